// Writing with a deadline for a peer that takes nothing (SOCK-5). A write tells only when all of it is gone, and a large reply to
// a slow reader may rightly take long, so a reply goes in slices, each with the whole time.

const SLICE = 16 * 1024;

export function sliceWriter(socket, stall) {
  return async (bytes) => {
    for (let at = 0; at < bytes.length; at += SLICE) await writeSlice(socket, bytes.subarray(at, at + SLICE), stall);
  };
}

function writeSlice(socket, slice, stall) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(`the peer took nothing for ${stall} ms`)), stall);
    socket.write(slice, (error) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve();
    });
  });
}
