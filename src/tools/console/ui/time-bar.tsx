import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { realNow } from './clock.js';
import { Icon } from './icons.js';
import { moment, sought } from './moment.js';
import { namespaceOfRoute } from './namespace-of-route.js';
import { chosenNamespace, route } from './navigation.js';
import { formatRoute } from './routes.js';
import { isOpen, leavePast, past, pastProblem, readPast, visit } from './time-machine.js';
import { clockText, localInputText } from './time-text.js';
import { agoText } from './times.js';
import { type VersionTime, writesIn } from './writes-in.js';

const minute = 60_000;
const spans = [
  { title: '15 min', ms: 15 * minute },
  { title: '1 h', ms: 60 * minute },
  { title: '6 h', ms: 360 * minute },
  { title: '24 h', ms: 1440 * minute },
] as const;

/** A past that is shorter needs no choice of a part. */
const shortest = 15 * minute;

/** How long the slider may rest before what is below it is shown, in milliseconds. */
const restMs = 120;
/** How often the end of the slider is read again, in milliseconds. */
const readAgainMs = 30_000;

/** Moves the whole page through the past: a slider over the time that the server still knows. */
export function TimeBar() {
  useEffect(() => {
    const stop = new AbortController();
    void readPast(stop.signal);
    const timer = setInterval(() => void readPast(stop.signal), readAgainMs);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, []);
  const shown = moment.value;
  const times = past.value;
  return (
    <section class={shown === undefined ? 'time-bar' : 'time-bar past'} aria-label="Time machine">
      <When />
      {times === undefined ? (
        <p class="quiet">{pastProblem.value === '' ? 'Reading how far the past reaches back…' : ''}</p>
      ) : (
        <Track times={times} />
      )}
      <Choices />
      {pastProblem.value !== '' && (
        <p role="alert" class="problem">
          {pastProblem.value}
        </p>
      )}
    </section>
  );
}

function When() {
  const time = sought.value ?? moment.value?.time;
  const at = realNow.value;
  return (
    <p class="when" role="status">
      {time === undefined ? (
        <>
          <strong>Now</strong>
          <span class="quiet">move the slider to look back</span>
        </>
      ) : (
        <>
          <strong>As of {clockText(time, at)}</strong>
          <span>
            {agoText(new Date(time).toISOString(), at)}, read-only{sought.value !== undefined && '…'}
          </span>
        </>
      )}
    </p>
  );
}

const parts = 120;
const [partWidth, trackHeight] = [5, 26];

function Track({ times }: { readonly times: readonly VersionTime[] }) {
  const chosen = useSignal<number | undefined>(undefined);
  const oldest = times[0]?.time ?? 0;
  // The end moves with the time, but not below the pointer.
  const newest = Math.max(times.at(-1)?.time ?? 0, moment.value?.time ?? 0);
  const whole = newest - oldest;
  const reach = Math.min(chosen.value ?? whole, whole);
  const time = sought.value ?? moment.value?.time;
  const from = Math.min(newest - reach, time ?? newest);
  const value = useSignal<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const at = value.value ?? time ?? newest;
  const writes = useComputed(() => past.value ?? []).value;
  const seek = (to: number) => {
    value.value = to;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      value.value = undefined;
      if (to >= newest - 500) leavePast();
      else visit(to);
    }, restMs);
  };
  return (
    <>
      <div class="track">
        <Writes writes={writesIn(writes, from, newest, parts)} until={(at - from) / Math.max(1, newest - from)} />
        <input
          type="range"
          aria-label="Moment"
          min={Math.floor(from)}
          max={Math.ceil(newest)}
          step={Math.max(1000, Math.round((newest - from) / 600 / 1000) * 1000)}
          value={at}
          aria-valuetext={`${clockText(at, realNow.value)}, ${agoText(new Date(at).toISOString(), realNow.value)}`}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        />
        <p class="ends quiet" aria-hidden="true">
          <span>{clockText(from, realNow.value)}</span>
          <span>{value.value === undefined ? '' : clockText(value.value, realNow.value)}</span>
          <span>now</span>
        </p>
      </div>
      {whole > shortest && (
        <fieldset class="spans" aria-label="How far the slider reaches back">
          {spans
            .filter(({ ms }) => ms < whole)
            .map(({ title, ms }) => (
              <button
                key={title}
                type="button"
                aria-pressed={chosen.value === ms}
                onClick={() => (chosen.value = chosen.value === ms ? undefined : ms)}
              >
                {title}
              </button>
            ))}
        </fieldset>
      )}
    </>
  );
}

/** How much was written when: bars behind the slider. */
function Writes({ writes, until }: { readonly writes: readonly number[]; readonly until: number }) {
  const most = Math.max(1, ...writes);
  return (
    <svg viewBox={`0 0 ${parts * partWidth} ${trackHeight}`} preserveAspectRatio="none" aria-hidden="true">
      {writes.map((count, index) => {
        // Roots: a cluster that rests is not to look empty beside a rollout.
        const height = count === 0 ? 0 : Math.max(1, Math.sqrt(count / most) * trackHeight);
        return (
          <rect
            key={index}
            class={(index + 0.5) / parts > until ? 'later' : ''}
            x={index * partWidth}
            y={trackHeight - height}
            width={partWidth - 1}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function Choices() {
  const shown = moment.value;
  const namespace = chosenNamespace.value;
  const at = sought.value ?? shown?.time;
  return (
    <div class="choices">
      <input
        type="datetime-local"
        step={1}
        aria-label="Go to a time"
        title="Go to a time"
        key={at}
        defaultValue={at === undefined ? '' : localInputText(at)}
        onChange={(event) => {
          const time = new Date(event.currentTarget.value).getTime();
          if (!Number.isNaN(time)) visit(time);
        }}
      />
      {shown !== undefined && (
        <>
          <a class="button" href={formatRoute({ page: 'changes', namespace, to: '' })}>
            What changed since
          </a>
          <a
            class="button"
            href={formatRoute({ page: 'restore', namespace: namespaceOfRoute(route.value, namespace), of: '' })}
          >
            Restore…
          </a>
          <button type="button" class="main" onClick={leavePast}>
            Back to now
          </button>
        </>
      )}
      <button
        type="button"
        class="plain"
        aria-label="Close the time machine"
        title="Close (T)"
        onClick={() => {
          isOpen.value = false;
          if (moment.value !== undefined || sought.value !== undefined) leavePast();
        }}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
