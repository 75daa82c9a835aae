/**
 * Whether the other side closed the connection. If it did so before a long body was written, the write reports it and not
 * the read.
 */
export function isReset({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}
