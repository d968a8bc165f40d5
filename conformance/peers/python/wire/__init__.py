"""What a message is: values, encodings, shapes, and the verbs that answer. Nothing here touches a file or a socket."""
