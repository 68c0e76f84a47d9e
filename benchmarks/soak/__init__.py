"""Two hours of messages in ten minutes: does anything grow (`make soak`)?"""
