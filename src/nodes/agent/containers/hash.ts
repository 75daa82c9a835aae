import { createHash } from 'node:crypto';
import type { DeclaredContainer } from '../pods/pod-form.js';

/**
 * Distinguishes declarations of a container that need different runs. Only the image of a running container can change.
 */
export function containerHash({ container: { name, image } }: DeclaredContainer): string {
  return createHash('sha256')
    .update(JSON.stringify([name, image]))
    .digest('hex')
    .slice(0, 8);
}
