import { type Signal, useSignal } from '@preact/signals';
import { ClusterChoice } from './cluster-choice.js';
import { Logo } from './logo.js';
import { login, loginAtProvider, loginProblem, logins, shownCluster } from './session.js';

/** Takes a token or a kubeconfig, as text or as a file. */
export function LoginPage() {
  const text = useSignal('');
  const isBusy = useSignal(false);
  const problem = useSignal('');
  const attempt = async (enter: () => Promise<void>) => {
    isBusy.value = true;
    problem.value = '';
    try {
      await enter();
    } catch (error) {
      problem.value = (error as Error).message;
    }
    isBusy.value = false;
  };
  const submit = () =>
    attempt(async () => {
      await login(text.value);
      text.value = '';
    });
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    text.value = file.size > 200_000 ? '' : await file.text();
    if (file.size > 200_000) problem.value = 'the file is too large for a kubeconfig';
    else await submit();
  };
  const { provider, clusters = [] } = logins.value ?? {};
  // The provider is that of the first cluster.
  const hasProvider = provider !== undefined && shownCluster() === clusters[0];
  const shown = problem.value || loginProblem.value;
  return (
    <main class="login">
      <h1 class="brand">
        <Logo /> Plinth
      </h1>
      <p class="quiet">The console of your cluster: everything in it, and everything that was.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <ClusterChoice />
        {hasProvider && (
          <>
            <button type="button" class="main" disabled={isBusy.value} onClick={() => void attempt(loginAtProvider)}>
              Log in with {provider}
            </button>
            <p class="or">or</p>
          </>
        )}
        <CredentialsInput text={text} take={(file) => void take(file)} />
        <button type="submit" class={hasProvider ? '' : 'main'} disabled={isBusy.value || text.value.trim() === ''}>
          Log in
        </button>
        <p role="alert" class="problem">
          {shown}
        </p>
        <p class="quiet">
          Of a kubeconfig, the user of the current context counts. The credentials are kept in the memory of the
          console, and are used for your requests only, until you log out.
        </p>
      </form>
    </main>
  );
}

interface CredentialsInputProps {
  readonly text: Signal<string>;
  /** Takes a file that the user has chosen. */
  readonly take: (file: File | undefined) => void;
}

function CredentialsInput({ text, take }: CredentialsInputProps) {
  return (
    <>
      <label for="login">Token or kubeconfig</label>
      <textarea
        id="login"
        rows={8}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        placeholder="Paste it here, or choose the file"
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <input type="file" aria-label="Kubeconfig file" onChange={(event) => take(event.currentTarget.files?.[0])} />
    </>
  );
}
