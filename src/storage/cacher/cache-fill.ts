import { firstPageSize, mostPageBytes, nextPageSize } from '../page-size.js';
import type { ListPage, Storage } from '../storage.interface.js';
import type { CacheBudget } from './cache-budget.js';
import type { CacheOptions } from './cache-options.js';
import { WatchCache } from './watch-cache.js';

/**
 * A cache is filled if at least this share of its expected size fits: the estimate may be based on the largest objects.
 */
const CERTAIN_PART = 0.6;

/** Fills the cache of one resource, once, from one snapshot of the database. */
export class CacheFill {
  private readonly resource: string;
  private readonly inner: Storage;
  private readonly options: CacheOptions;
  private readonly budget: CacheBudget;
  private loadedBytes = 0;
  private counted: number | undefined;
  private isStopped = false;

  constructor(resource: string, inner: Storage, options: CacheOptions, budget: CacheBudget) {
    this.resource = resource;
    this.inner = inner;
    this.options = options;
    this.budget = budget;
  }

  /** Bytes of what has been read so far. */
  get bytes(): number {
    return this.loadedBytes;
  }

  /** The number of all objects of the resource, once the first page has been read. */
  get objects(): number | undefined {
    return this.counted;
  }

  /** Ends the work after the current page: the cache that results is incomplete. */
  stop(): void {
    this.isStopped = true;
  }

  /**
   * The cache with all objects, and the snapshot's version as its position; undefined when the cache does not fit the
   * budget. Rejects as `Storage.list` does.
   */
  async run(): Promise<WatchCache | undefined> {
    const { resource } = this;
    const { window, leastChanges } = this.options;
    const cache = new WatchCache(resource, { ...window, least: leastChanges(resource) });
    let pageSize = firstPageSize;
    let page = await this.inner.list({ resource, pageSize, pageBytes: mostPageBytes, countRemaining: true });
    const at = page.resourceVersion;
    if (!this.mayFit(page)) return undefined;
    for (;;) {
      cache.load(page.items);
      this.loadedBytes = cache.bytes;
      this.counted = Math.max(this.counted ?? 0, cache.objects);
      if (!this.budget.admits(cache.bytes)) return undefined;
      const after = page.items.at(-1)?.key;
      if (!page.more || after === undefined || this.isStopped) break;
      pageSize = nextPageSize(page);
      page = await this.inner.list({ resource, at, after, pageSize, pageBytes: mostPageBytes });
    }
    cache.begin(at);
    return cache;
  }

  /**
   * Whether filling is worth a try: it would be a waste to read a million objects, and drop other caches for them, only
   * to find that they do not fit. The first objects may be larger than the others.
   */
  private mayFit({ items, remaining = 0 }: ListPage): boolean {
    this.counted = items.length + remaining;
    if (remaining === 0) return true;
    const first = new WatchCache(this.resource, this.options.window);
    first.load(items);
    const expected = (first.bytes * this.counted) / Math.max(1, items.length);
    return expected * CERTAIN_PART <= this.budget.most();
  }
}
