import type { Change } from '../../../storage/storage.interface.js';

type Forms = Map<string, Buffer | Promise<Buffer>>;

/**
 * Memory of a form besides its own length, in bytes. Short buffers are cut from common blocks of 64 KiB, which live as
 * long as any of their buffers does; about this much of them is allocated for one write.
 */
const overheadBytes = 8 * 1024;

/**
 * Encoded forms of the newest changes, so that all watchers of the process share the bytes. Caches keep changes for much
 * longer than watchers need them, so their forms are forgotten after others of half the limit were made; a watcher that
 * is further behind has them made again.
 */
export class EncodedChanges {
  private newer = new WeakMap<Change, Forms>();
  private older = new WeakMap<Change, Forms>();
  private newerBytes = 0;

  /** @param mostBytes the limit for all forms together */
  constructor(private readonly mostBytes: number) {}

  get(change: Change, form: string): Buffer | Promise<Buffer> | undefined {
    return this.newer.get(change)?.get(form) ?? this.older.get(change)?.get(form);
  }

  /** A promise is replaced by its bytes, and forgotten when it fails. */
  set(change: Change, form: string, bytes: Buffer | Promise<Buffer>): void {
    if (!(bytes instanceof Promise)) {
      this.count(bytes);
      this.formsOf(change).set(form, bytes);
      return;
    }
    const forms = this.formsOf(change);
    forms.set(form, bytes);
    bytes.then(
      (ready) => {
        this.count(ready);
        forms.set(form, ready);
      },
      () => forms.delete(form),
    );
  }

  private formsOf(change: Change): Forms {
    let forms = this.newer.get(change);
    if (forms === undefined) {
      forms = new Map();
      this.newer.set(change, forms);
    }
    return forms;
  }

  private count({ length }: Buffer): void {
    this.newerBytes += length + overheadBytes;
    if (this.newerBytes <= this.mostBytes / 2) return;
    this.older = this.newer;
    this.newer = new WeakMap();
    this.newerBytes = length + overheadBytes;
  }
}
