import type { ScrapedSeries } from '../../src/base/observability/scrape/scrape.js';

export { readScrape, type ScrapedSeries } from '../../src/base/observability/scrape/scrape.js';

/**
 * A selector as in PromQL: a label equals a value, or matches a regular expression as a whole. A missing label is
 * empty.
 */
export type Selector = Readonly<Record<string, string | RegExp>>;

/** The series of this name that match the selector. */
export function select(series: readonly ScrapedSeries[], name: string, selector: Selector = {}): ScrapedSeries[] {
  const fits = (labels: ScrapedSeries['labels']) =>
    Object.entries(selector).every(([key, wanted]) => {
      const value = labels[key] ?? '';
      return typeof wanted === 'string' ? value === wanted : new RegExp(`^(?:${wanted.source})$`).test(value);
    });
  return series.filter((one) => one.name === name && fits(one.labels));
}

/** The sum of the series that match. */
export function sumOf(series: readonly ScrapedSeries[], name: string, selector: Selector = {}): number {
  return select(series, name, selector).reduce((sum, { value }) => sum + value, 0);
}
