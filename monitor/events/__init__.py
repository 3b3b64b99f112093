"""From raw bytes to columns: the user's field mapping, labels, decisions, scores, rejections."""
