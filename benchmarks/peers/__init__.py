"""`make bench-peers`: Attest beside PaperQA, LlamaIndex and Haystack on the same work, in turns."""
