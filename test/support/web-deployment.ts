import type {
  DeploymentCondition,
  StoredDeployment,
  StoredReplicaSet,
} from '../../src/loops/controllers/deployment/deployment-annotations.js';
import { LoopScene } from './loop-scene.js';
import { Place } from './place.js';

const deployments = 'deployments.apps';
const sets = 'replicasets.apps';

/** The deployment `web` of a namespace, with its replica sets and pods. */
export class WebDeployment {
  static readonly labels = { app: 'web' };

  private constructor(readonly place: Place) {}

  static template(image: string) {
    return { metadata: { labels: WebDeployment.labels }, spec: { containers: [{ name: 'c', image }] } };
  }

  static condition({ conditions = [] }: StoredDeployment['status'], type: string): DeploymentCondition | undefined {
    return conditions.find((entry) => entry.type === type);
  }

  static imageOf({ spec }: StoredReplicaSet): string {
    return spec.template.spec.containers?.[0]?.image ?? '';
  }

  static async make(
    scene: LoopScene,
    namespace: string,
    spec: object = {},
    metadata: object = {},
  ): Promise<WebDeployment> {
    const place = await Place.make(scene, namespace);
    await scene.create<StoredDeployment>(deployments, {
      metadata: { name: 'web', namespace, ...metadata },
      spec: {
        replicas: 2,
        selector: { matchLabels: WebDeployment.labels },
        template: WebDeployment.template('img:1'),
        ...spec,
      },
    } as object);
    return new WebDeployment(place);
  }

  change(change: (spec: StoredDeployment['spec']) => void): Promise<StoredDeployment> {
    const { scene, namespace } = this.place;
    return scene.update<StoredDeployment>(deployments, namespace, 'web', ({ spec }) => change(spec));
  }

  setImage(image: string): Promise<StoredDeployment> {
    return this.change(({ template: { spec } }) => {
      for (const container of spec.containers ?? []) container.image = image;
    });
  }

  /** Waits until `look` accepts the deployment, once its loop has observed the current generation. */
  until(what: string, look: (deployment: StoredDeployment) => boolean | undefined): Promise<StoredDeployment> {
    return this.place.one<StoredDeployment>(
      deployments,
      what,
      (object) => object.status.observedGeneration === object.metadata.generation && look(object),
    );
  }

  complete(what = 'complete'): Promise<StoredDeployment> {
    return this.until(what, ({ spec, status }) => {
      const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status;
      const isComplete = [updatedReplicas, replicas, availableReplicas].every((count) => count === spec.replicas);
      return isComplete && WebDeployment.condition(status, 'Progressing')?.reason === 'NewReplicaSetAvailable';
    });
  }

  /** Waits until the replica sets have these sizes by image. */
  sizes(expected: Readonly<Record<string, number>>): Promise<Record<string, StoredReplicaSet>> {
    const text = JSON.stringify(expected);
    return this.place.until<StoredReplicaSet, Record<string, StoredReplicaSet>>(sets, `sizes ${text}`, (all) => {
      const actual = Object.fromEntries(all.map((set) => [WebDeployment.imageOf(set), set.spec.replicas ?? 0]));
      const byName = (a: [string, number], b: [string, number]) => (a[0] < b[0] ? -1 : 1);
      const sorted = Object.fromEntries(Object.entries(actual).sort(byName));
      return JSON.stringify(sorted) === text && Object.fromEntries(all.map((set) => [WebDeployment.imageOf(set), set]));
    });
  }

  async pods(image: string, count: number): Promise<string[]> {
    const pods = await this.place.pods(`${count} pods of ${image}`, (all) => {
      const mine = all.filter(({ spec }) => spec.containers?.[0]?.image === image);
      return mine.length === count;
    });
    return pods.filter(({ spec }) => spec.containers?.[0]?.image === image).map(({ metadata }) => metadata.name ?? '');
  }

  async ready(image: string, count: number): Promise<void> {
    for (const name of await this.pods(image, count)) await this.place.node.ready(name);
  }
}
