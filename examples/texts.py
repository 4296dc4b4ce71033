"""Small texts for the language models, for when no file is given."""

NAMES = """
ada agnes alan albert alice alma amos andrea anna anton astrid august barbara beate ben bernard bianca boris bruno carla
carmen caspar cecilia clara claude conrad cora cyril dagmar dana daniel daphne david diana dora edgar edith elena elias
elisa ella elmar emil emma enno erik esther eugen eva fabian felix flora florian frank frida fritz gabriel georg gerda
gisela greta gustav hanna hans harald hedwig heidi helena henrik hilda hugo ida igor ilse ines ingrid irene iris isabel
ivan jakob jana jasper johanna jonas josef judith jule julian karin karl katja klara konrad kurt lara laura lea lena leo
leonie lina linus lisa livia lorenz lotte louis lucia ludwig luisa lukas lydia magda maja manuel mara marc marek maria
marlene martha martin matilda max mia michael mila mina mira miriam moritz nadia nora norbert odette olga oliver oscar
otto paul paula peter petra philip rahel ralf rebecca regina renate robert roman rosa rudolf ruth samuel sandra sara
selma silke simon sofia sonja stefan susanne sven sylvia tabea tara teresa theo thomas tilda tim tobias ulrich ursula
valentin vera viktor viola walter wanda werner wilma xaver yara yvonne zoe
"""

PROSE = """
A gradient is a question put to a number: if I had been a little different, how different would you be? Every
operation knows the answer for its own inputs, and for nothing else. Addition says: as much as you. Multiplication
says: as much as you, times my other factor. The exponential says: as much as you, times what I became. None of them
knows where its inputs came from, or what will be made of its result. And yet, if each of them writes down what it
did, and with what, then the question can be carried back from the last number to the first, one step at a time, each
step asking only its neighbour.

What is written down is a graph. It grows while the program runs, in the order in which the program runs, and so it
follows every branch that was taken and every loop as often as it went round. Nobody has to draw it beforehand. When a
number has been used twice, two answers come back to it, and they are added, because a small change of that number
goes both ways at once. When a number has been used by nobody, no answer comes back, and its gradient is not zero but
nothing.

To walk the graph backward, begin with one. The derivative of the loss by itself is one, and from there it is handed
to the operation that made the loss. That operation multiplies it by what it knows, and hands the products on to those
that made its inputs. An operation must wait until all who used its result have answered; then it adds the answers and
goes on. In the end the answers arrive at the leaves, which are the numbers that were not made but given: the weights.
There they are added to what is there already, which is why a training loop begins by forgetting.

A network is a long sum of products with bends in it, and learning is a walk downhill. The slope is the gradient, the
length of a step is the rate, and the valley is wherever the walk ends. The first steps are large and careless, the
last ones small and careful. Whoever looks at the numbers on the way will see them fall quickly, then slowly, then
hardly at all; and whoever looks at the graph will see that nothing in it is hidden, that every number has a reason,
and that the reason is a line of the program.
"""
