"""The reward of self-critical training: metrics on word numbers, fast enough for every step.

Knows the public names only.
"""

from meshcap.metrics.reward.references import Known
from meshcap.metrics.reward.rewards import BleuReward, CiderReward, Mixture, Reward
from meshcap.metrics.reward.words import Special

__all__ = ["BleuReward", "CiderReward", "Known", "Mixture", "Reward", "Special"]
