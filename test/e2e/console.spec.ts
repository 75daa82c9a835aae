import { after, before, describe } from 'node:test';
import { accessibilityCases } from '../console/cases/accessibility-cases.js';
import { editingCases } from '../console/cases/editing-cases.js';
import { faultCases } from '../console/cases/fault-cases.js';
import { findingCases } from '../console/cases/finding-cases.js';
import { hostileCases } from '../console/cases/hostile-cases.js';
import { loginCases } from '../console/cases/login-cases.js';
import { lookingCases } from '../console/cases/looking-cases.js';
import { pastCases } from '../console/cases/past-cases.js';
import { pathCases } from '../console/cases/path-cases.js';
import { rightsCases } from '../console/cases/rights-cases.js';
import { sqlCases } from '../console/cases/sql-cases.js';
import { workCases } from '../console/cases/work-cases.js';
import { ConsoleInBrowser } from '../console/console-in-browser.js';

/** The console in a real browser, over one real server for all cases. `npm run check:console` has more. */
describe('the console in a browser', () => {
  let own: ConsoleInBrowser;

  before(async () => {
    own = await ConsoleInBrowser.start();
  });
  after(() => own?.stop());

  for (const addCases of [
    loginCases,
    pathCases,
    rightsCases,
    editingCases,
    sqlCases,
    lookingCases,
    workCases,
    pastCases,
    findingCases,
    faultCases,
    accessibilityCases,
    hostileCases,
  ]) {
    addCases(() => own);
  }
});
