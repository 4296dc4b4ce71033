"""stable-baselines3: PPO and DQN learn CartPole for a while, are saved, read and evaluated."""

import tempfile
import warnings

import numpy as np
from shown import show
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy

warnings.simplefilter("ignore")
folder = tempfile.mkdtemp()
for name, make in {
    "ppo": lambda: PPO("MlpPolicy", "CartPole-v1", seed=0, n_steps=128, batch_size=64, n_epochs=4, device="cpu"),
    "dqn": lambda: DQN("MlpPolicy", "CartPole-v1", seed=0, learning_starts=50, buffer_size=1000, device="cpu"),
    "sac": lambda: SAC("MlpPolicy", "Pendulum-v1", seed=0, learning_starts=50, buffer_size=1000, device="cpu"),
}.items():
    model = make().learn(512 if name == "ppo" else 200)
    norm = sum(p.detach().double().pow(2).sum() for p in model.policy.parameters()).sqrt()
    show(f"{name} parameters", norm.item())
    model.save(f"{folder}/{name}")
    again = type(model).load(f"{folder}/{name}", env=model.get_env())
    state = np.linspace(-0.05, 0.05, model.observation_space.shape[0], dtype=np.float32)
    show(f"{name} action", again.predict(state, deterministic=True)[0].tolist())
    if name != "sac":
        show(f"{name} reward", [float(v) for v in evaluate_policy(again, again.get_env(), n_eval_episodes=2)])
