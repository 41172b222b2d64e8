"""Chat models: the port that the program speaks to (`chatting`), what is behind it, what is asked and what it costs."""
