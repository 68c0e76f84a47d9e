"""What any text says: under labels, in sentences, in numbers and days, of whom, denied or not."""
