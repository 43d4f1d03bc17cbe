// A real headless Chromium: the one from npm where it runs, else CHROME_PATH, else the system's. None is a failure.
import { access, constants } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']

/** @throws when no browser starts, naming what was tried */
export async function launchBrowser(): Promise<Browser> {
  const failures: string[] = []
  for (const [name, find] of CANDIDATES) {
    try {
      const executablePath = await find()
      if (executablePath !== undefined)
        return await chromium.launch({ executablePath, args: ARGS, headless: true })
    } catch (thrown) {
      failures.push(`${name}: ${thrown instanceof Error ? thrown.message.split('\n')[0] : String(thrown)}`)
    }
  }
  throw new Error(`no browser: install chromium or set CHROME_PATH\n${failures.join('\n')}`)
}

const CANDIDATES: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ['CHROME_PATH', async () => process.env['CHROME_PATH']],
  [
    '@sparticuz/chromium',
    async () => {
      const { default: packaged } = await import('@sparticuz/chromium')
      return packaged.executablePath()
    },
  ],
  ['/usr/bin/chromium', async () => existing('/usr/bin/chromium')],
]

async function existing(path: string): Promise<string> {
  await access(path, constants.X_OK)
  return path
}
