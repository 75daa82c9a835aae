import { render } from 'preact';
import { App } from './app.js';
import { resume } from './session.js';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void resume();
