import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { type BoundFlag, flagsOf } from '../../src/base/config/flag.js';
import { parseOptions } from '../../src/base/config/parse-options.js';
import { commands } from '../../src/tools/cli/all-commands.js';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Files that `plinth pki` makes. */
const pkiFiles = new Set(
  ['ca', 'apiserver', 'admin', 'front-proxy-ca', 'front-proxy-client']
    .flatMap((name) => [`${name}.crt`, `${name}.key`])
    .concat('service-account.key', 'admin.kubeconfig'),
);

function commandOf(name: string | undefined) {
  const command = commands.find((one) => one.name === name);
  assert.ok(command, `there is no plinth ${name}`);
  return command;
}

/** The program accepts these words and variables. */
function checkCommandLine(words: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const [name, ...argv] = words;
  const { groups, defaults } = commandOf(name);
  const shown = argv.map((word) => word.replace('$(POD_IP)', '10.0.0.1'));
  parseOptions({ groups, defaults, argv: shown, environment });
  const known = new Set(
    Object.values(groups)
      .flatMap(flagsOf)
      .map((flag: BoundFlag) => flag.environment),
  );
  for (const variable of Object.keys(environment)) {
    if (variable.startsWith('PLINTH_')) assert.ok(known.has(variable), `plinth ${name} does not read ${variable}`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds
type Manifest = any;

describe('deploy/plinth.yaml', () => {
  const manifests: readonly Manifest[] = parseAllDocuments(read('deploy/plinth.yaml')).map((one) => one.toJS());
  const of = (kind: string) => manifests.filter((one) => one.kind === kind);
  const workloads = [...of('Deployment'), ...of('Job')];

  it('has all parts, and nothing of helm', () => {
    assert.deepEqual(workloads.map(({ metadata }) => metadata.name).sort(), [
      'plinth-controllers',
      'plinth-migrate',
      'plinth-serve',
    ]);
    for (const kind of ['Service', 'ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'])
      assert.ok(of(kind).length > 0, kind);
    assert.doesNotMatch(read('deploy/plinth.yaml').replaceAll(/^#.*$/gm, ''), /helm/i);
  });

  it('gives flags and variables that the program takes, and files that are there', () => {
    for (const { spec, metadata } of workloads) {
      const pod = spec.template.spec;
      const [container] = pod.containers;
      const env = Object.fromEntries(
        (container.env ?? []).map(({ name, value = '10.0.0.1' }: Manifest) => [name, value]),
      );
      checkCommandLine(container.args, env);
      const mounted = new Set<string>(
        pod.volumes.flatMap(({ name, secret }: Manifest) =>
          name === 'pki' ? secret.items.map(({ key }: Manifest) => key) : [],
        ),
      );
      assert.ok(container.args.includes('--database-url-file=/etc/plinth-database/url/url'), metadata.name);
      for (const { name } of container.volumeMounts) {
        assert.ok(
          pod.volumes.some((volume: Manifest) => volume.name === name),
          `${metadata.name}: ${name}`,
        );
      }
      for (const file of mounted) assert.ok(pkiFiles.has(file), file);
      for (const word of container.args as string[]) {
        const [, file] = /=\/etc\/plinth\/(.+)$/.exec(word) ?? [];
        if (file !== undefined) assert.ok(mounted.has(file), `${metadata.name}: ${word}`);
      }
      assert.equal(mounted.has('ca.key'), metadata.name === 'plinth-controllers', 'only who signs has the key');
    }
  });

  it('runs without rights', () => {
    for (const { spec } of workloads) {
      const { containers, securityContext, automountServiceAccountToken } = spec.template.spec;
      assert.equal(automountServiceAccountToken, false);
      assert.ok(securityContext.runAsNonRoot && securityContext.runAsUser > 0);
      assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault');
      for (const container of containers) {
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        assert.ok(container.resources.requests.memory);
      }
    }
  });

  it('selects its own pods, and probes ports that they have', () => {
    const podsOf = (labels: Readonly<Record<string, string>>) =>
      workloads.filter(({ spec }) =>
        Object.entries(labels).every(([key, value]) => spec.template.metadata.labels[key] === value),
      );
    for (const { spec } of of('Service')) {
      const [workload, ...more] = podsOf(spec.selector);
      assert.ok(workload && more.length === 0);
      const ports = workload.spec.template.spec.containers[0].ports.map(({ name }: Manifest) => name);
      for (const { targetPort } of spec.ports) assert.ok(ports.includes(targetPort));
    }
    for (const { spec } of of('PodDisruptionBudget')) assert.equal(podsOf(spec.selector.matchLabels).length, 1);
    for (const { spec } of of('NetworkPolicy')) assert.equal(podsOf(spec.podSelector.matchLabels).length, 1);
    for (const { spec } of of('Deployment')) {
      assert.equal(podsOf(spec.selector.matchLabels).length, 1);
      const [{ startupProbe, livenessProbe, readinessProbe, ports }] = spec.template.spec.containers;
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
        assert.ok(ports.some(({ name }: Manifest) => name === httpGet.port));
        assert.match(httpGet.path, /^\/(livez|readyz)$/);
      }
    }
  });
});

describe('the alerts and the dashboard of the chart', () => {
  const known = new Set([...read('docs/metrics.md').matchAll(/^\| `(\w+)` \| (\w+)/gm)].map(([, name]) => name));
  /** Every process has these by the library of metrics. */
  const usual = new Set([
    'up',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
  ]);
  const metricsIn = (expression: string) =>
    [...expression.matchAll(/\b([a-z]+_[a-z0-9_]+|up)(?=[{[\s)]|$)/g)].map(([, name = '']) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    );
  const check = (expression: string) => {
    const names = metricsIn(expression).filter((name) => !/^histogram_quantile$/.test(name));
    assert.ok(names.length > 0, expression);
    for (const name of names)
      assert.ok(usual.has(name) || known.has(name), `there is no metric ${name}: ${expression}`);
  };

  it('read metrics that there are', () => {
    const { panels } = JSON.parse(read('charts/plinth/dashboards/plinth.json')) as Manifest;
    const expressions = panels.flatMap(({ targets = [] }: Manifest) => targets.map(({ expr }: Manifest) => expr));
    assert.ok(expressions.length >= 20);
    for (const expression of expressions) check(expression.replaceAll(/\{[^{}]*\}|\bby \([^)]*\)/g, ''));
    const alerts = [...read('charts/plinth/templates/prometheusrule.yaml').matchAll(/expr: '(.*)'$/gm)];
    assert.ok(alerts.length >= 15);
    for (const [, expression = ''] of alerts) {
      check(expression.replaceAll(/\{\{[^}]*\}\}/g, '').replaceAll(/\{[^{}]*\}|\bby \([^)]*\)/g, ''));
    }
  });
});

describe('docker-compose.yml', () => {
  const file = parse(read('docker-compose.yml'), { merge: true }) as Manifest;
  /** Where compose knows nothing else, an unknown word is a misspelt one. */
  const known = new Set(
    'image build command environment volumes ports restart depends_on healthcheck stop_grace_period entrypoint'.split(
      ' ',
    ),
  );

  it('has words that compose knows, and names what is there', () => {
    for (const [name, service] of Object.entries<Manifest>(file.services)) {
      for (const word of Object.keys(service)) assert.ok(known.has(word), `${name}: ${word}`);
      assert.ok(service.image ?? service.build, name);
      const needs = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      for (const other of needs) assert.ok(file.services[other], `${name} depends on ${other}`);
      for (const [other, { condition }] of Object.entries<Manifest>(
        Array.isArray(service.depends_on) ? {} : (service.depends_on ?? {}),
      )) {
        assert.ok(
          ['service_started', 'service_healthy', 'service_completed_successfully'].includes(condition),
          condition,
        );
        if (condition === 'service_healthy')
          assert.ok(file.services[other].healthcheck, `${other} has no health check`);
      }
      for (const volume of (service.volumes ?? []) as string[]) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) assert.ok(existsSync(join(root, source)), volume);
        else assert.ok(source in file.volumes, volume);
      }
      for (const port of (service.ports ?? []) as unknown[]) assert.match(String(port), /^([\d.]+:)?\d+:\d+$/);
    }
  });

  it('runs commands with flags and variables that they take', () => {
    let count = 0;
    for (const { image, command, environment } of Object.values<Manifest>(file.services)) {
      if (image !== 'plinth') continue;
      count++;
      const set = Object.entries(environment as Record<string, string>);
      const values = set.map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-(\w+)\}/g, '$1')]);
      // Both commands that end by themselves get the URL of the database, and one has no use for it.
      const own = command[0] === 'pki' ? [] : values;
      checkCommandLine(command, Object.fromEntries(own));
    }
    assert.ok(count >= 5);
  });
});

describe('docker-compose.yml and Dockerfile', () => {
  it('agree on the folder of certificates, its owner and the port', () => {
    const file = parse(read('docker-compose.yml'), { merge: true }) as Manifest;
    const image = read('Dockerfile');
    const folder = /PLINTH_CERT_DIR=(\S+)/.exec(image)?.[1] ?? '';
    const user = /^USER (\S+)$/m.exec(image)?.[1] ?? '';
    const parent = new RegExp(`mkdir -p ${folder} && chown -R ${user} (\\S+)`).exec(image)?.[1] ?? '';
    assert.ok(parent !== '' && folder.startsWith(`${parent}/`), `${user} owns ${folder}`);
    let count = 0;
    for (const [
      name,
      { image: of, volumes = [], environment = {}, user: other, entrypoint },
    ] of Object.entries<Manifest>(file.services)) {
      if (of !== 'plinth') continue;
      assert.deepEqual([other, entrypoint], [undefined, undefined], `${name} is run as the image says`);
      // A new volume gets the owner of the folder that it is mounted on.
      for (const volume of volumes as string[]) assert.equal(volume.split(':')[1], folder, name);
      const files = Object.entries<string>(environment).filter(([variable]) => variable.endsWith('_FILE'));
      for (const [variable, path] of files) {
        count++;
        assert.ok(path.startsWith(`${folder}/`) && pkiFiles.has(path.slice(folder.length + 1)), `${variable}: ${path}`);
        assert.ok(volumes.length > 0, `${name} has the volume of ${variable}`);
      }
    }
    assert.ok(count >= 8);
    const port = /^EXPOSE (\d+)$/m.exec(image)?.[1] ?? '';
    for (const name of ['api-1', 'api-2'])
      assert.ok(read('deploy/haproxy.cfg').includes(`server ${name} ${name}:${port}\n`));
    assert.ok(read('deploy/haproxy.cfg').includes(`bind :${port}\n`));
    assert.deepEqual(file.services['load-balancer'].ports, [`127.0.0.1:${port}:${port}`]);
  });
});

describe('deploy/systemd', () => {
  for (const unit of ['plinth.service', 'plinth-controllers.service']) {
    const lines = read(`deploy/systemd/${unit}`).split('\n');

    it(`${unit} starts commands that there are`, () => {
      const starts = lines.filter((line) => /^ExecStart(Pre)?=/.test(line));
      assert.ok(starts.length > 0);
      for (const line of starts) {
        const [program, ...words] = line.slice(line.indexOf('=') + 1).split(' ');
        assert.equal(program, '/usr/bin/plinth');
        checkCommandLine(words);
      }
    });

    it(`${unit} has no more rights than it needs`, () => {
      for (const wanted of [
        'CapabilityBoundingSet=',
        'NoNewPrivileges=yes',
        'ProtectSystem=strict',
        'ProtectHome=yes',
        'PrivateDevices=yes',
        'SystemCallFilter=@system-service',
        'User=plinth',
      ]) {
        assert.ok(lines.includes(wanted), wanted);
      }
      // Node makes code while it runs.
      assert.ok(!lines.some((line) => /^MemoryDenyWriteExecute=(yes|true|1)/.test(line)));
    });
  }
});

describe('Dockerfile', () => {
  const text = read('Dockerfile').replaceAll(/\\\n\s*/g, ' ');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('keeps the rules of linters for such files', () => {
    for (const line of lines) {
      assert.match(line, /^(FROM|WORKDIR|COPY|RUN|ENV|USER|EXPOSE|HEALTHCHECK|ENTRYPOINT|CMD) /, line);
      if (line.startsWith('FROM '))
        assert.match(line, /^FROM \S+:\d[\w.-]*( AS \w+)?$/, 'a version, and not the latest');
      if (line.startsWith('WORKDIR ')) assert.match(line, /^WORKDIR \//);
      assert.doesNotMatch(line, /\bsudo\b|\bcurl\b.*\| *(ba)?sh|apt-get upgrade|^ADD /);
      assert.doesNotMatch(line, /(PASSWORD|SECRET|TOKEN)=/i);
    }
    for (const word of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) {
      const found = lines.filter((line) => line.startsWith(`${word} `));
      assert.equal(found.length, 1, word);
      assert.match(String(found[0]), /\[".*"\]$/, 'without a shell, so that signals arrive');
    }
  });

  it('ends with a user without rights, by number', () => {
    const user = last.findIndex((line) => line.startsWith('USER '));
    assert.match(String(last[user]), /^USER [1-9]\d*:[1-9]\d*$/);
    assert.ok(!last.slice(user).some((line) => line.startsWith('RUN ')), 'nothing is made by that user');
    assert.ok(
      !last.some((line) => line.startsWith('RUN ') && /npm |apt-get/.test(line)),
      'nothing is installed beside Node',
    );
  });

  it('copies what the build gets', () => {
    const ignored = read('.dockerignore').split('\n');
    for (const line of lines.filter((one) => one.startsWith('COPY ') && !one.includes('--from='))) {
      for (const path of line
        .split(' ')
        .slice(1, -1)
        .filter((one) => one !== '.')) {
        assert.ok(existsSync(join(root, path)), path);
        const [folder] = path.split('/');
        const isOut = ignored.includes(path) || (ignored.includes(`${folder}/*`) && !ignored.includes(`!${path}`));
        assert.ok(!isOut, `${path} is not sent to the build`);
      }
    }
  });
});
