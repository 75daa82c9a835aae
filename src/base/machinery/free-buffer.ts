/** Smaller buffers are left to the garbage collector, if the caller does not say otherwise. */
const leastBytes = 64 * 1024;

/**
 * Frees the memory of a large buffer that has it to itself and is no longer used; it is empty afterwards. Otherwise the
 * memory stays until a collection of the whole heap, and each 64 MiB of such memory cause one.
 *
 * @param least the number of bytes from which on a buffer is freed
 */
export function freeBuffer(bytes: Uint8Array<ArrayBufferLike> | null | undefined, least = leastBytes): void {
  if (bytes == null || bytes.length < least || bytes.length === 0) return;
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) buffer.transfer(0);
}
