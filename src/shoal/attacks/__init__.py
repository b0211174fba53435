"""Attackers: what a release still reveals; the risk of a table as it is; releases over time.

An attack is a class in `shoal.attacks.attackers`, one file each, or one that an installed package offers as an entry
point of the group ``shoal.attacks``. It declares who the attacker is and turns a `Scene` into an `AttackResult`.
"""
