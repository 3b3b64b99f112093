"""The parts of the page of one model. Pure, but for kept reports of retired versions, which are files."""
