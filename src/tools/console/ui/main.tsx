import { render } from 'preact';
import { App } from './app.js';
import { Boundary } from './boundary.js';
import { boundPages } from './bounded-pages.js';
import { resume } from './session.js';

boundPages();
const root = document.getElementById('app');
if (root !== null) {
  render(
    <Boundary what="console" at="">
      <App />
    </Boundary>,
    root,
  );
}
void resume();
