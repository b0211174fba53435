"""The papers that Shoal is built on, reproduced: worked tables, asserted equal, and experiments on Adult."""

from shoal.reproduce.run import PAPERS, Reproduction, reproduce

__all__ = ["PAPERS", "Reproduction", "reproduce"]
