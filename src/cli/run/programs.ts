// What is known of programs: how each is made to call an address, for a trial, and what is to be said of those that cannot be helped. Pure.

export interface KnownProgram {
  /** Of the file, without its folder. */
  readonly name: RegExp
  /** Arguments that make it call the address once; undefined where no call of it proves anything. */
  readonly call?: (url: string) => readonly string[]
  /** Another program that calls as this one does, where this one calls only what was written for it. */
  readonly caller?: (program: string) => string
  /** Variables without which it does not call at all. */
  readonly env?: Readonly<Record<string, string>>
  /** What it takes besides, also where the trial went well. */
  readonly takes?: string
  /** What to know beside the outcome of the trial. */
  readonly note?: string
}

const ON_MACOS =
  'On macOS programs in Go trust the keychain alone: add ca.pem there (security add-trusted-cert), or use a container.'

export const KNOWN_PROGRAMS: readonly KnownProgram[] = [
  { name: /^curl$/, call: (url) => ['-sS', '-m', '5', url] },
  { name: /^git$/, call: (url) => ['ls-remote', url] },
  {
    name: /^wget$/,
    call: (url) => ['-q', '-T', '5', '-t', '1', '-O', '-', url],
    note: 'A wget that was built with GnuTLS takes no certificates from the environment: write ca_certificate into the file of WGETRC.',
  },
  {
    name: /^node(?:js)?$/,
    call: (url) => ['-e', `fetch(${JSON.stringify(url)}).catch(() => process.exit(1))`],
    note: 'Node honours NODE_USE_ENV_PROXY from 22.21 and 24 on; older ones call past every proxy: use a base URL (/via/).',
  },
  { name: /^npm$/, call: (url) => ['ping', '--fetch-retries=0', `--registry=${url}`] },
  {
    name: /^python[\d.]*$/,
    call: (url) => [
      '-c',
      `import urllib.request; urllib.request.urlopen(${JSON.stringify(url)}, timeout=5).read()`,
    ],
    note: 'This was urllib. requests, httpx and pip read the same variables; aiohttp only with trust_env=True.',
  },
  {
    name: /^pip[\d.]*$/,
    call: (url) => [
      'download',
      '--no-deps',
      '--retries=0',
      '--timeout=5',
      `--index-url=${url}`,
      '--dest=/nonexistent',
      'x',
    ],
  },
  { name: /^deno$/, call: (url) => ['eval', `await fetch(${JSON.stringify(url)})`] },
  { name: /^bun$/, call: (url) => ['-e', `await fetch(${JSON.stringify(url)})`] },
  {
    name: /^java$/,
    // The tool beside it calls by the same classes, and is there without a compiler.
    caller: (program) => program.replace(/java(\.exe)?$/i, 'keytool$1'),
    call: (url) => ['-printcrl', '-file', url],
    note:
      'Java sends no password to a proxy: under `run` on Linux it needs none, elsewhere use a base URL (/via/) for its SDK. It reads ' +
      'JAVA_TOOL_OPTIONS alone, and of its HTTP clients those that take the system properties of the JDK.',
  },
  {
    name: /^(?:javac|gradle|mvn|sbt|kotlin|scala)$/,
    note: 'A program in Java: `agent-gateway doctor -- java` tries the machine that it runs on.',
  },
  {
    name: /^gh$/,
    call: (url) => ['api', url],
    env: { GH_TOKEN: 'placeholder' },
    note: ON_MACOS,
  },
  {
    name: /^(?:go|terraform|kubectl|hub|glab)$/,
    note: `A program in Go: on Linux it honours HTTPS_PROXY and SSL_CERT_FILE. ${ON_MACOS}`,
  },
  {
    name: /^aws$/,
    call: (url) => ['--no-cli-pager', '--endpoint-url', url, 'sts', 'get-caller-identity'],
    env: {
      AWS_ACCESS_KEY_ID: 'placeholder',
      AWS_SECRET_ACCESS_KEY: 'placeholder',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_MAX_ATTEMPTS: '1',
    },
    takes:
      'It signs with the placeholder: the credential has to be of the kind aws_sigv4, which signs again.',
  },
  {
    name: /^cargo$/,
    note: 'It honours HTTPS_PROXY and CARGO_HTTP_CAINFO, for indexes and crates; it was not called, because that fills its home folder.',
  },
  {
    name: /^(?:docker|podman|nerdctl)$/,
    note: 'The daemon goes out, not this program: containers need the variables (-e) and the file (-v) of their own.',
  },
  {
    name: /^(?:ssh|scp|sftp|rsync)$/,
    note: 'It does not speak HTTPS, so that nothing can be put in on its way out.',
  },
]

export const findProgram = (path: string): KnownProgram | undefined => {
  const file = (path.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:exe|cmd)$/i, '')
  return KNOWN_PROGRAMS.find(({ name }) => name.test(file))
}

export interface Trial {
  /** Whether it sent CONNECT to the door. */
  readonly usedProxy: boolean
  /** Whether it sent a request over a connection with a certificate of ours. */
  readonly trusted: boolean
}

export interface TrialFinding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly says: string
}

/** @param trial undefined where none was made */
export function judgeTrial(
  program: string,
  known: KnownProgram | undefined,
  trial: Trial | undefined,
): readonly TrialFinding[] {
  const warn = (says: string | undefined): readonly TrialFinding[] =>
    says === undefined ? [] : [{ level: 'warn', says }]
  const note = [...warn(known?.note), ...warn(known?.takes)]
  if (trial === undefined)
    return known === undefined
      ? [
          {
            level: 'warn',
            says: `Nothing is known of ${program}. Run it once with --unknown deny: the summary says which hosts it asked the proxy for, or that it asked for none.`,
          },
        ]
      : note
  if (!trial.usedProxy)
    return [
      { level: 'fail', says: `${program} goes out past the proxy: HTTPS_PROXY means nothing to it.` },
      ...note,
    ]
  if (!trial.trusted)
    return [
      { level: 'ok', says: `${program} uses the proxy` },
      { level: 'fail', says: `${program} does not trust the certificates that the environment names.` },
      ...note,
    ]
  return [
    { level: 'ok', says: `${program} uses the proxy and trusts its certificates` },
    ...warn(known?.takes),
  ]
}
