import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { ApiFault } from './api-fault.js';
import { downloadText } from './download-text.js';
import { bindKeys } from './keys.js';
import { pathOf } from './kinds.js';
import { LogBuffer, type LogLine, linesWith, toneOfLine } from './log-buffer.js';
import { type LogSource, sourcesOf } from './log-sources.js';
import { windowOf } from './rows.js';
import { api } from './session.js';

/** Lines that are kept, of all containers together. */
const mostLines = 10_000;
const tailLines = 1000;
/** What is read of a line, in letters: more than is shown, so that it shows that it is cut. */
const mostOfLine = 8192;
const drawMs = 100;
/** Height of a line in pixels; `object.css` has the same. */
const lineHeight = 20;

interface LogViewProps {
  readonly namespace: string;
  readonly pods: readonly unknown[];
  readonly podNames: readonly string[];
  readonly containers: readonly string[];
  /** The container that is shown first. */
  readonly usual: string;
}

interface Choice {
  /** Empty: all. */
  readonly pod: string;
  readonly container: string;
  readonly isFollowing: boolean;
  /** Whether the log of the run before is read. */
  readonly isPrevious: boolean;
  readonly hasTimes: boolean;
}

/** Logs of one or several containers, with a search. */
export function LogView({ namespace, pods, podNames, containers, usual }: LogViewProps) {
  const [onlyPod = ''] = podNames.length === 1 ? podNames : [];
  const choice = useSignal<Choice>({
    ...{ pod: onlyPod, container: usual, isFollowing: true, isPrevious: false, hasTimes: false },
  });
  const text = useSignal('');
  const { pod, container } = choice.value;
  const sources = sourcesOf(pods, pod, container);
  const logs = useLogs(namespace, sources, choice.value);
  const lines = linesWith(logs.buffer.last, text.value);
  const set = (change: Partial<Choice>) => {
    choice.value = { ...choice.value, ...change };
  };
  useLayoutEffect(() => bindKeys([{ keys: ['/'], run: () => document.getElementById('find-line')?.focus() }]), []);
  return (
    <div class="logs">
      <div class="log-tools">
        {podNames.length > 1 && (
          <Choose label="Pod" all="All pods" values={podNames} value={pod} set={(value) => set({ pod: value })} />
        )}
        {containers.length > 1 && (
          <Choose
            label="Container"
            all="All containers"
            values={containers}
            value={container}
            set={(value) => set({ container: value })}
          />
        )}
        <input
          id="find-line"
          type="search"
          aria-label="Find lines (/)"
          placeholder="Find lines (/)"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        <Flag name="Follow" isOn={choice.value.isFollowing} flip={(isFollowing) => set({ isFollowing })} />
        <Flag name="Previous run" isOn={choice.value.isPrevious} flip={(isPrevious) => set({ isPrevious })} />
        <Flag name="Times" isOn={choice.value.hasTimes} flip={(hasTimes) => set({ hasTimes })} />
        <Save lines={lines} name={pod || usual} />
      </div>
      {logs.problems.map((problem) => (
        <p key={problem} class="problem">
          {problem}
        </p>
      ))}
      <Lines lines={lines} isFollowing={choice.value.isFollowing} showsFrom={sources.length > 1} />
      <p class="quiet" role="status">
        {lines.length === logs.buffer.last.length ? `${lines.length} lines` : `${lines.length} lines found`}
        {logs.buffer.total > mostLines ? `, the last of ${logs.buffer.total}` : ''}
        {sources.length > 1 ? ` of ${sources.length} containers` : ''}
      </p>
    </div>
  );
}

interface Logs {
  readonly buffer: LogBuffer;
  readonly problems: readonly string[];
}

function useLogs(namespace: string, sources: readonly LogSource[], choice: Choice): Logs {
  const { isFollowing, isPrevious, hasTimes } = choice;
  const key = JSON.stringify([namespace, sources, isFollowing, isPrevious, hasTimes]);
  const drawn = useSignal(0);
  const problems = useSignal<readonly string[]>([]);
  const buffer = useMemo(() => new LogBuffer(mostLines), [key]);
  useEffect(() => {
    const stop = new AbortController();
    problems.value = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        drawn.value++;
      }, drawMs);
    };
    for (const source of sources) {
      void readLog(namespace, source, choice, stop.signal, (line) => {
        buffer.add(sources.length > 1 ? nameOf(source, sources) : '', line);
        draw();
      }).catch((error: unknown) => {
        if (stop.signal.aborted) return;
        const message = error instanceof ApiFault ? error.message : String((error as Error).message);
        problems.value = [...problems.value, `${source.container}: ${message}`];
      });
    }
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  void drawn.value;
  return { buffer, problems: problems.value };
}

async function readLog(
  namespace: string,
  { pod, container }: LogSource,
  { isFollowing, isPrevious, hasTimes }: Choice,
  signal: AbortSignal,
  take: (line: string) => void,
): Promise<void> {
  const query = new URLSearchParams({
    container,
    tailLines: String(tailLines),
    ...(isFollowing && !isPrevious && { follow: 'true' }),
    ...(isPrevious && { previous: 'true' }),
    ...(hasTimes && { timestamps: 'true' }),
  });
  const path = `${pathOf({ group: '', version: 'v1', resource: 'pods' }, namespace, pod)}/log?${query}`;
  for await (const line of api.lines(path, { accept: '*/*', signal }, mostOfLine)) take(line);
}

/** The shortest name that tells the sources apart. */
function nameOf({ pod, container }: LogSource, sources: readonly LogSource[]): string {
  const arePods = new Set(sources.map((each) => each.pod)).size > 1;
  const areContainers = new Set(sources.map((each) => each.container)).size > 1;
  const short = pod.split('-').slice(-1)[0] ?? pod;
  return [arePods ? short : '', areContainers ? container : ''].filter(Boolean).join(' ');
}

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly isFollowing: boolean;
  readonly showsFrom: boolean;
}

/** Lines of any number, of which only those in sight are drawn; at the end while new ones come. */
function Lines({ lines, isFollowing, showsFrom }: LinesProps) {
  const frame = useRef<HTMLElement>(null);
  const top = useSignal(0);
  const isAtEnd = useRef(true);
  const height = useHeight(frame);
  const { first, end } = windowOf(lines.length, lineHeight, top.value, height.value);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current !== null && isFollowing && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [lines.length, lines.at(-1)?.number, isFollowing]);
  return (
    <section
      ref={frame}
      class="log-lines"
      aria-label="Log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        top.value = scrollTop;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 2 * lineHeight;
      }}
    >
      <div style={{ height: `${first * lineHeight}px` }} />
      {lines.slice(first, end).map(({ number, from, text }) => (
        <div key={number} class={`log-line ${toneOfLine(text) ?? ''}`}>
          {showsFrom && <span class="from">{from}</span>}
          {text}
        </div>
      ))}
      <div style={{ height: `${(lines.length - end) * lineHeight}px` }} />
      {lines.length === 0 && <p class="quiet">No lines yet.</p>}
    </section>
  );
}

function useHeight(frame: { readonly current: HTMLElement | null }): Signal<number> {
  const height = useSignal(400);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const observer = new ResizeObserver(() => {
      height.value = current.clientHeight;
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return height;
}

interface ChooseProps {
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly value: string;
  readonly set: (value: string) => void;
}

function Choose({ label, all, values, value, set }: ChooseProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">{all}</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

function Flag({
  name,
  isOn,
  flip,
}: {
  readonly name: string;
  readonly isOn: boolean;
  readonly flip: (to: boolean) => void;
}) {
  return (
    <label class="tick">
      <input type="checkbox" checked={isOn} onChange={() => flip(!isOn)} />
      <span>{name}</span>
    </label>
  );
}

function Save({ lines, name }: { readonly lines: readonly LogLine[]; readonly name: string }) {
  const save = () => {
    const text = lines.map(({ from, text: line }) => (from === '' ? line : `${from} ${line}`)).join('\n');
    downloadText(`${text}\n`, `${name}.log`, 'text/plain');
  };
  return (
    <button type="button" onClick={save} disabled={lines.length === 0}>
      Download
    </button>
  );
}
