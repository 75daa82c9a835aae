/** One line of a plot: a value for each size. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const width = 640;
const height = 360;
const margin = { left: 64, right: 170, top: 40, bottom: 44 } as const;
const colours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf'];

/** A plot with both axes logarithmic, as SVG. */
export function plot(title: string, unit: string, sizes: readonly number[], series: readonly Series[]): string {
  const all = series.flatMap(({ values }) => values).filter((value) => value > 0);
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
  const [first, last] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 10)];
  const x = (size: number) =>
    margin.left + ((Math.log10(size) - first) / Math.max(1e-9, last - first)) * (width - margin.left - margin.right);
  const y = (value: number) =>
    height -
    margin.bottom -
    ((Math.log10(value) - low) / Math.max(1, high - low)) * (height - margin.top - margin.bottom);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${margin.left}" y="22" font-size="14">${title}</text>`,
  ];
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power).toFixed(1);
    parts.push(
      `<line x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}" stroke="#ddd"/>`,
      `<text x="${margin.left - 6}" y="${at}" dy="4" text-anchor="end">${10 ** power} ${unit}</text>`,
    );
  }
  for (const size of sizes) {
    const at = x(size).toFixed(1);
    parts.push(
      `<line x1="${at}" x2="${at}" y1="${margin.top}" y2="${height - margin.bottom}" stroke="#eee"/>`,
      `<text x="${at}" y="${height - margin.bottom + 18}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
    );
  }
  series.forEach(({ name, values }, i) => {
    const colour = colours[i % colours.length];
    const points = values.map((value, k) => `${x(sizes[k] ?? 1).toFixed(1)},${y(value).toFixed(1)}`);
    parts.push(`<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const point of points) {
      const [cx, cy] = point.split(',');
      parts.push(`<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`);
    }
    const at = margin.top + 14 + i * 18;
    parts.push(
      `<line x1="${width - margin.right + 12}" x2="${width - margin.right + 30}" y1="${at - 4}" y2="${at - 4}" stroke="${colour}" stroke-width="2"/>`,
      `<text x="${width - margin.right + 36}" y="${at}">${name}</text>`,
    );
  });
  parts.push('</svg>', '');
  return parts.join('\n');
}
