"""Where bytes come from: Kafka and files, behind one small protocol."""
