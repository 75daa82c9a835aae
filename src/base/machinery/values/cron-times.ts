import type { CronSchedule } from './cron-schedule.js';
import type { TimeZone } from './time-zone.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A schedule with no time in this many days never has one, such as one for 31 February. */
const longestSearchDays = 5 * 366;
/** In every zone, a day lies between these offsets from its midnight in UTC, in milliseconds. */
const earliestMs = -14 * hourMs;
const latestMs = 38 * hourMs;

type ClockSchedule = Extract<CronSchedule, { kind: 'clock' }>;

/**
 * The first instant after `after` at which the clock of the zone shows a time of the schedule; all in milliseconds.
 * Times that the clock skips are left out, and those that it shows twice are due twice. Undefined if there is none.
 */
export function nextTime(schedule: CronSchedule, zone: TimeZone, after: number): number | undefined {
  if (schedule.kind === 'every') return Math.floor(after / 1000) * 1000 + schedule.ms;
  const today = dayOf(after, zone);
  for (let day = today - 1; day <= today + longestSearchDays; day++) {
    if (!isDue(schedule, day)) continue;
    const found = timesOf(schedule, zone, day).find((time) => time > after);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last instant of the schedule after `after` and not after `until`. */
export function lastTime(schedule: CronSchedule, zone: TimeZone, after: number, until: number): number | undefined {
  if (schedule.kind === 'every') {
    const first = Math.floor(after / 1000) * 1000;
    const count = Math.floor((until - first) / schedule.ms);
    return count < 1 ? undefined : first + count * schedule.ms;
  }
  const firstDay = Math.max(dayOf(after, zone) - 1, dayOf(until, zone) - longestSearchDays);
  for (let day = dayOf(until, zone) + 1; day >= firstDay; day--) {
    if (!isDue(schedule, day)) continue;
    const found = timesOf(schedule, zone, day).findLast((time) => time <= until);
    if (found !== undefined) return found > after ? found : undefined;
  }
  return undefined;
}

/** The number of the day that the clock shows, from 1 January 1970. */
function dayOf(instant: number, zone: TimeZone): number {
  return Math.floor((instant + zone.offsetAt(instant)) / dayMs);
}

function isDue({ days, months, weekdays, needsBothDays }: ClockSchedule, day: number): boolean {
  const date = new Date(day * dayMs);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const inMonth = days.has(date.getUTCDate());
  const inWeek = weekdays.has(date.getUTCDay());
  return needsBothDays ? inMonth && inWeek : inMonth || inWeek;
}

/** The instants of the schedule on a day of the zone, in order. */
function timesOf({ hours, minutes }: ClockSchedule, zone: TimeZone, day: number): number[] {
  const midnight = day * dayMs;
  const times: number[] = [];
  for (const { from, to, offset } of partsAround(midnight, zone)) {
    for (const hour of hours) {
      for (const minute of minutes) {
        const time = midnight + hour * hourMs + minute * minuteMs - offset;
        if (time >= from && time < to) times.push(time);
      }
    }
  }
  return times.sort((a, b) => a - b);
}

/** Splits the time around a day into parts in which the zone's offset stays the same: one or two. */
function partsAround(midnight: number, zone: TimeZone) {
  let low = midnight + earliestMs;
  let high = midnight + latestMs;
  const before = zone.offsetAt(low);
  const afterwards = zone.offsetAt(high);
  const always = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  if (before === afterwards) return [{ ...always, offset: before }];
  while (high - low > minuteMs) {
    const middle = Math.floor((low + high) / 2 / minuteMs) * minuteMs;
    if (zone.offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return [
    { ...always, to: high, offset: before },
    { ...always, from: high, offset: afterwards },
  ];
}
