// Writes docs/metrics.md from the metrics that the compiled program registers.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { metricsPage } = await import('../dist/test/support/metrics-page.js');
writeFileSync(fileURLToPath(new URL('../docs/metrics.md', import.meta.url)), metricsPage());
process.exit();
