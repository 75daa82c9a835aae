import { options, type VNode } from 'preact';
import { boundedText } from './bounded-text.js';

/** A text of a page, as the library hands it to its hook. */
type TextNode = { type: null; props: string };

/** Bounds every text that the page draws from now on, wherever it comes from. */
export function boundPages(): void {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    const text = node as unknown as TextNode;
    if (text.type === null && typeof text.props === 'string') text.props = boundedText(text.props);
    before?.(node);
  };
}
