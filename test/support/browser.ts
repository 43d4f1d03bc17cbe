// A real headless Chromium: the one from npm where it runs, else CHROME_PATH, else the system's. None is a failure.
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import packaged, { inflate } from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']

const MAX_LAUNCHES = 20
/** For what a test waits for in a page, as for everything else (vitest.browser.config.ts): Playwright's own is half of it. */
const PATIENCE_MS = 60_000

interface Candidate {
  readonly name: string
  find(): Promise<{ executablePath: string; env?: Record<string, string> } | undefined>
}

/**
 * @param args of Chromium, besides those that it needs to run here
 * @param variables of its environment, besides those of this process
 * @throws when no browser starts, naming what was tried
 */
export async function launchBrowser(
  args: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const failures: string[] = []
  for (const { name, find } of CANDIDATES) {
    try {
      const found = await find()
      if (!found) continue
      const env = { ...environment(), ...found.env, ...variables }
      const browser = await launchUnpacked(() =>
        chromium.launch({
          ...found,
          env,
          args: [...ARGS, ...args],
          headless: true,
          timeout: PATIENCE_MS,
        }),
      )
      browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS))
      return browser
    } catch (thrown) {
      failures.push(`${name}: ${thrown instanceof Error ? thrown.message.split('\n')[0] : String(thrown)}`)
    }
  }
  throw new Error(`no browser: install chromium or set CHROME_PATH\n${failures.join('\n')}`)
}

/** The first launch of a machine unpacks the program, and another worker may still be writing it: that is over within seconds. */
async function launchUnpacked(launch: () => Promise<Browser>): Promise<Browser> {
  for (let tries = 1; ; tries++) {
    try {
      return await launch()
    } catch (thrown) {
      if (tries === MAX_LAUNCHES || !String(thrown).includes('ETXTBSY')) throw thrown
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

const environment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )

const CANDIDATES: readonly Candidate[] = [
  {
    name: 'CHROME_PATH',
    async find() {
      const path = process.env['CHROME_PATH']
      return path === undefined ? undefined : { executablePath: path }
    },
  },
  {
    name: '@sparticuz/chromium',
    find: async () => ({ executablePath: await packaged.executablePath() }),
  },
  {
    // A machine without NSS and friends: the package carries them too.
    name: '@sparticuz/chromium with its own libraries',
    async find() {
      const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
      await inflate(join(dirname(dirname(entry)), 'bin', 'al2023.tar.br'))
      return {
        executablePath: await packaged.executablePath(),
        env: { LD_LIBRARY_PATH: join(tmpdir(), 'al2023', 'lib') },
      }
    },
  },
  { name: '/usr/bin/chromium', find: async () => ({ executablePath: '/usr/bin/chromium' }) },
]
