import { eachInSteps, type Steps } from '../../../base/machinery/turns.js';

/** Which objects of one kind name which node. Only names are stored. */
export class ObjectsOfNodes {
  private readonly nodes = new Map<string, string>();

  /** @param grown is called whenever a node may have gained access to an object */
  constructor(private readonly grown: () => void) {}

  /**
   * @param key the name, after the namespace and a slash if the kind has namespaces
   * @param node '' if the object is of no node, or of several
   */
  set(key: string, node: string): void {
    this.nodes.set(key, node);
    this.grown();
  }

  delete(key: string): void {
    this.nodes.delete(key);
  }

  /** Replaces all objects, in steps: first removes those that are not in `objects`. */
  *replacing(objects: ReadonlyMap<string, string>): Steps {
    yield* eachInSteps(this.nodes.keys(), (key) => {
      if (!objects.has(key)) this.nodes.delete(key);
    });
    yield* eachInSteps(objects, ([key, node]) => this.set(key, node));
  }

  /** Whether the object names this node. */
  isOf(node: string, key: string): boolean {
    return node !== '' && this.nodes.get(key) === node;
  }
}
