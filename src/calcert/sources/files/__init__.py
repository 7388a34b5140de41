"""Files: which are meant, how they are written, and readers, a fast one and an exact one."""
