"""What a release is worth for a task: scores of models trained on it, and errors of count queries answered from it.

In both, a generalized cell stands for every value under it, each equally likely (Xiao & Tao 2006; LeFevre, DeWitt &
Ramakrishnan 2006): the one reading of a label that needs no knowledge beyond the hierarchy.
"""
