"""The pipeline: from data and policy to a verified release."""

from shoal.pipeline.release import Release
from shoal.pipeline.run import anonymize
from shoal.pipeline.write import Published, publish

__all__ = ["Published", "Release", "anonymize", "publish"]
