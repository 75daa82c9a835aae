/** Limits the memory that a cache may use. */
export interface CacheBudget {
  /** The most bytes that the cache could use if all other caches were dropped. */
  most(): number;
  /** Whether a cache that has grown to this many bytes still fits. Other caches may be dropped to make space. */
  admits(bytes: number): boolean;
}
