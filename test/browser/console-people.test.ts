// People in a real browser: invited, with passkeys of a virtual authenticator, signed out and in again. Passkeys live at localhost alone.
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn } from '../support/people.ts'
import { accessibilityFaults } from '../support/site-browser.ts'
import { freePort } from '../support/free-port.ts'

let gateway: TestGateway
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  gateway = await startTestGateway({
    env: { PORT: String(port), GATEWAY_BASE_URL: `http://localhost:${port}` },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.close()
})

interface Device {
  readonly context: BrowserContext
  readonly page: Page
  readonly session: CDPSession
  readonly authenticatorId: string
  readonly complaints: string[]
}

/** A browser of its own with an authenticator in it. */
async function openDevice(over: Record<string, unknown> = {}): Promise<Device> {
  const context = await browser.newContext({ locale: 'en-US' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...over,
    },
  })
  return { context, page, session, authenticatorId, complaints }
}

async function invite(role: 'owner' | 'operator' | 'approver', name: string): Promise<string> {
  const { accountId } = await signIn(gateway)
  const { link } = await gateway.services.identity.people.invite({
    accountId,
    role,
    name,
    invitedBy: 'key_test',
  })
  return link.use((text) => text)
}

async function join(device: Device, link: string): Promise<string[]> {
  const { page } = device
  await page.goto(link)
  await page.getByRole('button', { name: 'Make a passkey and join' }).click()
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  return (await page.locator('pre').innerText()).trim().split('\n')
}

describe('somebody who is invited', () => {
  it('joins with a passkey, signs out, and in again with it', async () => {
    const device = await openDevice()
    const { page, context, complaints } = device
    const link = await invite('operator', 'Layla <b>Haddad</b>')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))

    await page.goto(link)
    expect(await page.getByLabel('Your name').inputValue()).toBe('Layla <b>Haddad</b>')
    expect(page.url()).toBe(`${gateway.baseUrl}/console/join`)
    await page.getByRole('button', { name: 'Make a passkey and join' }).click()
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    const codes = (await page.locator('pre').innerText()).trim().split('\n')
    expect(codes).toHaveLength(10)
    expect(codes[0]).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    // The invitation is in no address that anybody asked for, and in no line of the log.
    const token = link.split('#')[1] ?? ''
    expect(asked.filter((url) => url.includes(token))).toEqual([])
    expect(gateway.log()).not.toContain(token.slice(0, 20))

    await page.getByRole('link', { name: 'I have kept them' }).click()
    await page.waitForURL(`${gateway.baseUrl}/console`)
    expect(await page.locator('header').innerText()).toContain('Layla <b>Haddad</b>')
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({
      name: `__Host-agw-${new URL(gateway.baseUrl).port}`,
      httpOnly: true,
      secure: true,
      sameSite: 'Strict',
      path: '/',
    })

    await context.clearCookies()
    await page.goto(`${gateway.baseUrl}/console/inbox`)
    expect(page.url()).toContain('/console/sign-in?next=')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${gateway.baseUrl}/console/inbox`)
    const [again] = await context.cookies()
    expect(again?.value).not.toBe(cookie?.value)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('is shown pages that everybody can use', async () => {
    // The check ends a session of the browser's protocol, and the authenticator with it: it has pages of its own.
    const page = await browser.newPage()
    for (const address of [await invite('operator', 'Nour'), `${gateway.baseUrl}/console/sign-in`]) {
      await page.goto(address)
      await page.getByRole('button', { name: /passkey/ }).waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
    }
    await page.close()
  })

  it('finds a link that was used to open nothing', async () => {
    const link = await invite('approver', 'Omar')
    const first = await openDevice()
    await join(first, link)
    const second = await openDevice()
    await second.page.goto(link)
    await second.page.getByText('This link was used, has expired or was withdrawn').waitFor()
    expect(await second.page.getByRole('button', { name: /join/i }).count()).toBe(0)
    await first.context.close()
    await second.context.close()
  })

  it('needs a device that verifies who uses it', async () => {
    const device = await openDevice({ isUserVerified: false })
    await device.page.goto(await invite('operator', 'Noor'))
    await device.page.getByRole('button', { name: 'Make a passkey and join' }).click()
    await device.page.getByText('Your device did not give a passkey').waitFor()
    await device.context.close()
  })
})

describe('a passkey', () => {
  it('that has been copied is refused: it has counted less than it did', async () => {
    const device = await openDevice()
    const { page, session, authenticatorId, context } = device
    await join(device, await invite('operator', 'Sami'))
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
    const [original] = credentials
    if (!original) throw new Error('no passkey was made')
    const enter = async () => {
      await context.clearCookies()
      await page.goto(`${gateway.baseUrl}/console/sign-in`)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    }
    await enter()
    await page.waitForURL(`${gateway.baseUrl}/console`)

    await session.send('WebAuthn.removeCredential', {
      authenticatorId,
      credentialId: original.credentialId,
    })
    await session.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: { ...original, signCount: 0 },
    })
    await enter()
    await page.getByText('This passkey was not accepted').waitFor()
    expect(page.url()).toBe(`${gateway.baseUrl}/console/sign-in`)
    await context.close()
  })
})
