import type { Clicks } from './clicks.js';

/** A task, done in the console and then with kubectl. */
export interface Task {
  readonly name: string;
  /** What happens before, not counted. */
  readonly prepare?: readonly string[];
  readonly inConsole: (clicks: Clicks, shell: (line: string) => string) => Promise<void>;
  /** What makes the state of the beginning again. */
  readonly between?: readonly string[];
  /** None: kubectl alone can't do it. */
  readonly commands: readonly string[];
}

const rolled = 'kubectl -n shop rollout status deployment/web --timeout=120s';

async function toTheDeployment(clicks: Clicks): Promise<void> {
  await clicks.link('Deployments');
  await clicks.link('web');
}

/** Of a day with a cluster. Each begins at the overview. */
export const tasks: readonly Task[] = [
  {
    name: 'Why does a pod not run?',
    inConsole: (clicks) => clicks.sees(/ImagePullBackOff/),
    commands: ['kubectl get pods -A', 'kubectl -n broken describe pod lonely'],
  },
  {
    name: 'Logs of the pods of a deployment',
    inConsole: async (clicks) => {
      await toTheDeployment(clicks);
      await clicks.tab('Logs');
      await clicks.sees('3 lines of 3 containers');
    },
    commands: ['kubectl -n shop get deployment web -o wide', 'kubectl -n shop logs -l app=web --prefix'],
  },
  {
    name: 'Scale, until all pods are ready',
    inConsole: async (clicks) => {
      await toTheDeployment(clicks);
      await clicks.button('Scale');
      await clicks.fill(clicks.page.getByRole('dialog').getByRole('spinbutton'), '5');
      await clicks.inDialog('Scale');
      await clicks.sees('5/5');
    },
    between: ['kubectl -n shop scale deployment/web --replicas=3', rolled],
    commands: ['kubectl -n shop scale deployment/web --replicas=5', 'kubectl -n shop rollout status deployment/web'],
  },
  {
    name: 'Roll back, after a look at the revision',
    prepare: ['kubectl -n shop set image deployment/web web=nginx:1.28', rolled],
    inConsole: async (clicks) => {
      await toTheDeployment(clicks);
      await clicks.button('Roll back');
      await clicks.page.getByRole('dialog').getByText('nginx:1.27').first().waitFor();
      await clicks.inDialog('Return to revision');
      await clicks.sees('nginx:1.27');
    },
    between: ['kubectl -n shop set image deployment/web web=nginx:1.28', rolled],
    commands: [
      'kubectl -n shop rollout history deployment/web',
      'kubectl -n shop rollout history deployment/web --revision=3',
      'kubectl -n shop rollout undo deployment/web',
    ],
  },
  {
    name: 'Bring back the objects of a deleted namespace',
    prepare: [
      'kubectl create namespace gone',
      'kubectl -n gone create configmap kept --from-literal=a=b',
      'sleep 2',
      'date +%Y-%m-%dT%H:%M:%S > "$HOME/moment"',
      'sleep 2',
      'kubectl delete namespace gone --timeout=120s',
    ],
    inConsole: async (clicks, shell) => {
      await clicks.button('Time machine');
      await clicks.fill(clicks.page.getByLabel('Go to a time'), shell('cat "$HOME/moment"').trim());
      await clicks.press('Enter');
      await clicks.page.getByText('As of').first().waitFor();
      await clicks.click(clicks.page.getByText(/^Restore…/).first());
      await clicks.click(clicks.page.locator('main').getByText('gone', { exact: true }).first());
      await clicks.button('Check with the server');
      await clicks.button('Restore these');
      await clicks.sees(/Restored \d/);
      await clicks.page.getByRole('button', { name: 'Back to now' }).click();
    },
    commands: [],
  },
  {
    name: 'Who changed a config map, and what?',
    prepare: ['kubectl -n shop patch configmap settings -p \'{"data":{"greeting":"hi"}}\''],
    inConsole: async (clicks) => {
      await clicks.link('Config maps');
      await clicks.link('settings');
      await clicks.tab('Timeline');
      await clicks.sees('kubectl-patch');
    },
    commands: ['kubectl -n shop get configmap settings -o yaml --show-managed-fields'],
  },
  {
    name: 'Who may delete a secret?',
    inConsole: async (clicks) => {
      await clicks.link('Secrets');
      await clicks.link('database');
      await clicks.tab('Access');
      await clicks.sees('system:masters');
    },
    commands: [
      "kubectl get rolebindings,clusterrolebindings -A -o custom-columns='IN:.metadata.namespace,ROLE:.roleRef.name,WHO:.subjects[*].name'",
      "kubectl get roles,clusterroles -A -o custom-columns='IN:.metadata.namespace,ROLE:.metadata.name,OF:.rules[*].resources,MAY:.rules[*].verbs'",
    ],
  },
  {
    name: 'A quota near its end',
    inConsole: (clicks) => clicks.sees('few'),
    commands: ['kubectl get quota -A'],
  },
  {
    name: 'Which images run, and how often?',
    inConsole: async (clicks) => {
      await clicks.link('SQL');
      await clicks.button('Images in use');
      await clicks.sees('nginx:1.27');
    },
    commands: [
      'kubectl get pods -A -o jsonpath=\'{range .items[*].spec.containers[*]}{.image}{"\\n"}{end}\' | sort | uniq -c',
    ],
  },
  {
    name: 'Edit an image while somebody else writes',
    inConsole: async (clicks, shell) => {
      await toTheDeployment(clicks);
      await clicks.button('Edit');
      const image = clicks.page.locator('.edit .cm-line').filter({ hasText: 'image: nginx' });
      await clicks.click(image);
      await clicks.page.keyboard.press('End');
      await clicks.press('Backspace', 'Backspace');
      await clicks.type('29');
      await clicks.button('Try');
      await clicks.page.getByRole('button', { name: 'Apply', exact: true }).waitFor();
      shell('kubectl -n shop annotate deployment web note=theirs --overwrite');
      await clicks.click(clicks.page.getByRole('button', { name: /Keep my text/ }));
      await clicks.button('Try');
      await clicks.button('Apply');
      await clicks.sees('nginx:1.29');
    },
    between: ['kubectl -n shop set image deployment/web web=nginx:1.27', rolled],
    commands: [
      'kubectl -n shop get deployment web -o yaml > web.yaml',
      "sed -i 's/nginx:1.27/nginx:1.29/' web.yaml; kubectl -n shop annotate deployment web note=again --overwrite",
      '! kubectl replace -f web.yaml 2>/dev/null',
      // Its own control loop writes as well.
      "until kubectl -n shop get deployment web -o yaml | sed 's/nginx:1.27/nginx:1.29/' | kubectl replace -f -; do :; done",
    ],
  },
];
