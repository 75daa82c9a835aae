import type { WorkOutcome } from '../work-queue.js';

export type Labels = Readonly<Record<string, string>>;

/** A change that may concern more keys than this is wide. */
export const manyKeys = 32;
/** Of more different labels, it's cheaper to queue all keys of the namespace that select anything. */
const mostLabels = 64;
/** A piece of work ends after this time. */
const pieceMs = 5;
/** The name in the keys; no object has such a name. */
const name = '*';

/**
 * Changes of objects with labels that select very many keys of their namespace, such as those of a pod behind thousands of
 * services. To find these keys at each change would keep the thread from all other namespaces, and nothing would limit it.
 * So it is work of the queue under a key of its own: the namespace takes its turn, and pays for it like for other work.
 * Changes of objects with the same labels that come meanwhile, such as all pods of a deployment, are one.
 */
export class WideChanges {
  private readonly changed = new Map<string, Map<string, Labels>>();

  /**
   * @param enqueue queues the work of a namespace
   * @param find queues the keys of a namespace that select these labels; without labels, all that select anything
   */
  constructor(
    private readonly enqueue: (key: string) => void,
    private readonly find: (namespace: string, labels: Labels | undefined) => void,
  ) {}

  /** Takes note of a change of an object with these labels. */
  note(namespace: string, labels: Labels = {}): void {
    const known = this.changed.get(namespace);
    if (known !== undefined && known.size > mostLabels) return;
    const noted = known ?? new Map<string, Labels>();
    noted.set(JSON.stringify(labels), labels);
    if (known !== undefined) return;
    this.changed.set(namespace, noted);
    this.enqueue(`${namespace}/${name}`);
  }

  isKey(key: string): boolean {
    return key.endsWith(`/${name}`);
  }

  /** Queues what the changes of a namespace concern. */
  work(key: string): WorkOutcome {
    const namespace = key.slice(0, -name.length - 1);
    const noted = this.changed.get(namespace);
    if (noted === undefined) return 'done';
    const end = performance.now() + pieceMs;
    if (noted.size > mostLabels) {
      noted.clear();
      this.find(namespace, undefined);
    }
    for (const [text, labels] of noted) {
      if (performance.now() > end) return 1;
      noted.delete(text);
      this.find(namespace, labels);
    }
    this.changed.delete(namespace);
    return 'done';
  }

  /** Forgets everything, before a new term. */
  clear(): void {
    this.changed.clear();
  }
}
