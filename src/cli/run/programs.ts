// What is known of programs: how each is made to call an address, for a trial, and what is to be said of those that cannot be helped. Pure.

export interface KnownProgram {
  /** Of the file, without its folder. */
  readonly name: RegExp
  /** Arguments that make it call the address once; undefined where no call of it proves anything. */
  readonly call?: (url: string) => readonly string[]
  /** What to know beside the outcome of the trial. */
  readonly note?: string
}

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
    note: 'Node honours NODE_USE_ENV_PROXY from 22.21 and 24 on; older ones call past every proxy.',
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
    name: /^(?:java|javac|gradle|mvn|sbt|kotlin|scala)$/,
    note:
      'Java reads none of these variables. It wants -Dhttps.proxyHost, -Dhttps.proxyPort and a trust store in JAVA_TOOL_OPTIONS, and sends no password ' +
      'to a proxy by itself: use a base URL (/via/) for its SDK, or `run --sandbox`, whose door asks for none.',
  },
  {
    name: /^(?:gh|go|terraform|kubectl|hub|glab)$/,
    note:
      'A program in Go: on Linux it honours HTTPS_PROXY and SSL_CERT_FILE. On macOS it trusts the keychain alone: add ca.pem there ' +
      '(security add-trusted-cert), or use it in a container.',
  },
  {
    name: /^(?:docker|podman|nerdctl)$/,
    note: 'The daemon goes out, not this program: containers need the variables (-e) and the file (-v) of their own.',
  },
  {
    name: /^aws$/,
    note: 'It signs with the placeholder: the credential has to be of the kind aws-sigv4, which signs again.',
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
  const note: readonly TrialFinding[] = known?.note === undefined ? [] : [{ level: 'warn', says: known.note }]
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
  return [{ level: 'ok', says: `${program} uses the proxy and trusts its certificates` }]
}
