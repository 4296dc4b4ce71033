"""Recording switched off and on: as blocks, decorators, calls, in generators and in threads."""

import threading


def no_grad_block(torch, show):
    """Nothing is recorded inside; leaves made inside may still want gradients."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        show("enabled", torch.is_grad_enabled())
        show("y", x * 2)
        show("leaf", torch.ones(2, requires_grad=True))
        show("view", x[0])
    show("after", torch.is_grad_enabled())


def enable_grad_inside(torch, show):
    """enable_grad undoes no_grad for its block."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            show("inner", x * 2)
        show("outer", x * 2)


def set_grad_enabled_as_call(torch, show):
    """As a call it lasts until the next."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.set_grad_enabled(False)
    show("off", x * 2)
    torch.set_grad_enabled(True)
    show("on", x * 2)


def set_grad_enabled_as_block(torch, show):
    """As a block it puts the old mode back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for mode in (True, False):
        with torch.set_grad_enabled(mode):
            show(f"mode {mode}", (x * 2).requires_grad)
    show("after", torch.is_grad_enabled())
    show.error(lambda: torch.set_grad_enabled("yes"), words=False)


def mode_is_put_back_after_an_error(torch, show):
    """Leaving by an exception restores the mode too."""

    def fails():
        with torch.no_grad():
            raise ValueError("inside")

    show.error(fails)
    show("after", torch.is_grad_enabled())


def decorators(torch, show):
    """With and without parentheses."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    @torch.no_grad()
    def called(x):
        """Its words."""
        return x * 2

    @torch.no_grad
    def bare(x):
        return x * 2

    @torch.set_grad_enabled(False)
    def switched(x):
        return x * 2

    @torch.enable_grad()
    def enabled(x):
        return x * 2

    show("requires_grad", [called(x).requires_grad, bare(x).requires_grad, switched(x).requires_grad])
    torch.set_grad_enabled(True)
    with torch.no_grad():
        show("enabled", enabled(x).requires_grad)
    show("name", [called.__name__, called.__doc__])


def decorated_generator(torch, show):
    """A generator runs in its mode, its caller between the steps in its own."""

    @torch.no_grad()
    def steps():
        for _ in range(2):
            yield torch.is_grad_enabled()

    seen = []
    for inside in steps():
        seen.append((inside, torch.is_grad_enabled()))
    show("seen", seen)


def decorated_generator_sends(torch, show):
    """send, throw and close reach a decorated generator."""

    @torch.no_grad()
    def echo():
        received = None
        try:
            while True:
                received = yield received, torch.is_grad_enabled()
        except KeyError:
            yield "caught", torch.is_grad_enabled()

    generator = echo()
    show("first", next(generator))
    show("sent", generator.send(5))
    show("thrown", generator.throw(KeyError("x")))
    generator.close()
    show("after", torch.is_grad_enabled())


def decorated_class_warns(torch, show):
    """Decorating a class is discouraged."""

    def decorate():
        @torch.no_grad()
        class Model:
            def __init__(self):
                self.mode = torch.is_grad_enabled()

        return Model

    show.warnings(decorate)


def same_context_used_twice(torch, show):
    """One context object can be entered again and again."""
    off = torch.no_grad()
    seen = []
    for _ in range(2):
        with off:
            seen.append(torch.is_grad_enabled())
    show("seen", [*seen, torch.is_grad_enabled()])


def inference_mode_basics(torch, show):
    """Tensors made inside are inference tensors for ever."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        show("modes", [torch.is_inference_mode_enabled(), torch.is_grad_enabled()])
        y = x * 2
        show("y", y)
        show("is_inference", [y.is_inference(), x.is_inference()])
    show("modes after", [torch.is_inference_mode_enabled(), torch.is_grad_enabled()])
    show("outside", y + 1)


def inference_tensor_refusals(torch, show):
    """Outside the mode an inference tensor may not enter a graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        y = torch.ones(2)
    show.error(lambda: x * y)
    show.error(lambda: y.add_(1))
    show.error(lambda: y.requires_grad_())
    show.error(lambda: y._version)
    show("clone", (y.clone() * x))
    show("added", x + y)


def inference_mode_as_decorator(torch, show):
    """With parentheses, with False, bare."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    @torch.inference_mode()
    def on(x):
        return x * 2

    @torch.inference_mode(False)
    def off(x):
        return x * 2

    show("on", [on(x).is_inference(), on(x).requires_grad])
    show("off", [off(x).is_inference(), off(x).requires_grad])


def inference_mode_inplace_on_normal(torch, show):
    """A normal tensor may be changed inside, and counts the change."""
    x = torch.ones(2)
    with torch.inference_mode():
        x.add_(1)
    show("x", x)
    show("version", x._version)


def inference_mode_and_leaf(torch, show):
    """A leaf that wants gradients may be changed inside."""
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        x.add_(1)
    show("x", x)


def inference_view_of_normal(torch, show):
    """A view taken inside of a normal tensor."""
    x = torch.ones(4, requires_grad=True)
    with torch.inference_mode():
        v = x[1:3]
    show("is_inference", v.is_inference())
    show("v", v)


def update_under_no_grad(torch, show):
    """A leaf is updated in place under no_grad, and its old graph notices."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (w * w).sum()
    with torch.no_grad():
        w -= 0.5
    show("w", w)
    show("version", w._version)
    show.error(y.backward)


def no_grad_result_in_graph(torch, show):
    """What was computed under no_grad is a constant later."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        scale = x * 10
    (x * scale).sum().backward()
    show("x.grad", x.grad)


def inplace_under_no_grad_on_inner(torch, show):
    """An inner tensor changed under no_grad keeps its node."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.no_grad():
        y.mul_(10)
    show("y", y)
    y.sum().backward()
    show("x.grad", x.grad)


def modes_are_per_thread(torch, show):
    """A new thread starts with recording on, whatever its parent does."""
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    show("seen", seen)


def threads_build_their_own_graphs(torch, show):
    """Graphs built and walked in several threads at once."""
    results = [None] * 4

    def work(place):
        x = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
        for _ in range(20):
            y = x
            for _ in range(10):
                y = (y * (place + 1)).sin() + x
            y.sum().backward()
        results[place] = x.grad

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show("results", results)


def backward_in_another_thread(torch, show):
    """A graph built here is walked there."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    show("x.grad", x.grad)


def grad_mode_in_a_hook_thread(torch, show):
    """backward under no_grad works, since the graph is there."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
    show("x.grad", x.grad)


def create_graph_under_no_grad(torch, show):
    """create_graph records even under no_grad."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    with torch.no_grad():
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    show("g", g.detach())
    show("requires_grad", g.requires_grad)


def recording_state_of_factories(torch, show):
    """requires_grad= is honoured in every mode."""
    with torch.no_grad():
        show("zeros", torch.zeros(2, requires_grad=True))
        show("like", torch.zeros_like(torch.ones(2, requires_grad=True)))
    show("like", torch.ones_like(torch.ones(2, requires_grad=True)))


def set_multithreading_enabled(torch, show):
    """The engine's threads can be switched off for a block."""
    x = torch.tensor(2.0, requires_grad=True)
    with torch.autograd.set_multithreading_enabled(False):
        (x * x).backward()
    show("x.grad", x.grad)
