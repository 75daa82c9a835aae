import { Component, type ComponentChildren } from 'preact';
import { Blank } from './blank.js';
import { back } from './navigation.js';

interface BoundaryProps {
  /** What is shown, as in "This page can't be shown". */
  readonly what: string;
  /** An address; with another one, what failed is tried again. */
  readonly at: string;
  readonly children: ComponentChildren;
}

interface BoundaryState {
  readonly at?: string;
  readonly failure?: string;
}

/**
 * Keeps a fault of what it holds from the rest of the page: in its place stands a message, with ways to continue. The
 * browser's console has the fault itself.
 */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = {};

  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { failure: error instanceof Error ? error.message : String(error) };
  }

  static override getDerivedStateFromProps({ at }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return state.at === at ? null : { at, failure: undefined };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    const { what, children } = this.props;
    const { failure } = this.state;
    if (failure === undefined) return children;
    return (
      <div role="alert">
        <Blank icon="warning" title={`This ${what} can't be shown`}>
          <p>A fault of the console: {failure}</p>
          <button type="button" class="main" onClick={() => this.setState({ failure: undefined })}>
            Try again
          </button>
          <button type="button" onClick={back}>
            Back
          </button>
          <a class="button" href="#/">
            Overview
          </a>
        </Blank>
      </div>
    );
  }
}
