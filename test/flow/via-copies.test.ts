// A copy within an object store names what it reads in a header: the scope and the rules of the credential hold there as well.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const HOST = 's3.eu-west-1.amazonaws.com'
const BUCKET_HOST = `photos.${HOST}`
const AZURE_HOST = 'team.blob.core.windows.net'
const OTHER_HOST = 'minio.example.com'
const KEYS = {
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR9vTz2KpW',
}
const KIND = { type: 'aws_sigv4', region: 'eu-west-1', service: 's3' }

interface Grant {
  readonly host?: string
  readonly paths?: string[]
  readonly methods?: string[]
  readonly settings?: Record<string, unknown>
  readonly capability?: Record<string, unknown>
}

describe('the source of a copy', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({
      env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
      names: [HOST, BUCKET_HOST, AZURE_HOST, OTHER_HOST],
    })
    gw.upstream.respond((_request, res) => res.end('<CopyObjectResult/>'))
  })
  afterAll(() => gw.close())

  let count = 0
  /** @returns copies from a source: the status, and the code, the holder and the header of a refusal */
  async function copying({ host = HOST, paths = ['/photos'], methods, settings, capability }: Grant = {}) {
    const label = `store-${++count}`
    const { capability: token } = await gw.grant({
      credential: {
        label,
        secret: undefined,
        parts: KEYS,
        hosts: [`${host}:${gw.upstream.port}`],
        path_prefixes: paths,
        ...(methods && { methods }),
        settings: { kind: KIND, ...settings },
      },
      ...(capability && { capability }),
    })
    return async (source: string, header = 'x-amz-copy-source') => {
      const [sent, balance] = [gw.upstream.requests.length, await gw.balance()]
      const answer = await fetch(`${gw.baseUrl}/via/${label}/photos/x.jpg`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, [header]: source },
      })
      const text = await answer.text()
      const isSent = answer.status === 200
      expect([gw.upstream.requests.length - sent, balance - (await gw.balance())]).toEqual(
        isSent ? [1, 1] : [0, 0],
      )
      if (isSent) {
        const headers = new Map(gw.upstream.requests.at(-1)?.headers)
        expect(headers.get(header)).toBe(source)
        if (header.startsWith('x-amz-')) expect(headers.get('authorization')).toContain(header)
        return { status: 200 }
      }
      const problem = JSON.parse(text) as Record<string, unknown>
      if (problem['rules'] === undefined)
        expect(problem['detail']).toContain(`settings.request_headers: ["${header}"]`)
      return {
        status: answer.status,
        code: problem['code'],
        refused_by: problem['refused_by'],
        header: problem['header'],
      }
    }
  }
  const sent = { status: 200 }
  const denied = (refused_by = 'capability') => ({
    status: 403,
    code: 'scope_denied',
    refused_by,
    header: 'x-amz-copy-source',
  })
  const forbidden = (header: string) => ({
    status: 400,
    code: 'header_forbidden',
    refused_by: undefined,
    header,
  })

  it('is read where the scope of paths covers it, and nowhere else', async () => {
    const copy = await copying()
    expect(await copy('photos/a.jpg')).toEqual(sent)
    expect(await copy('/photos/a%20b.jpg?versionId=3')).toEqual(sent)
    for (const source of ['/payroll/secret.csv', 'payroll%2Fsecret.csv', 'photos2/a.jpg', '%70ayroll/s.csv'])
      expect(await copy(source)).toEqual(denied())
    for (const source of ['/photos/../payroll/secret.csv', 'arn:aws:s3:eu-west-1:1:accesspoint/a/object/b'])
      expect(await copy(source)).toEqual(forbidden('x-amz-copy-source'))
    for (const header of ['x-oss-copy-source', 'x-amz-rename-source', 'x-copy-from'])
      expect(await copy('/photos/a.jpg', header)).toEqual(forbidden(header))
  })

  it('is read by a credential that covers every path, as ever, in any form', async () => {
    for (const host of [HOST, OTHER_HOST]) {
      const copy = await copying({ host, paths: ['/'] })
      expect(await copy('/payroll/secret.csv')).toEqual(sent)
      expect(await copy('/payroll/a+b.csv')).toEqual(sent)
      expect(await copy('/payroll/secret.csv', 'x-oss-copy-source')).toEqual(sent)
    }
  })

  it('is in the bucket that the host names', async () => {
    const copy = await copying({ host: BUCKET_HOST, paths: ['/'] })
    expect(await copy('photos/payroll/a.jpg')).toEqual(sent)
    expect(await copy('photos/my+file')).toEqual(sent)
    expect(await copy('payroll/secret.csv')).toEqual(denied())
    for (const source of ['payroll/my+file', '%70ayroll/a+b', 'payroll/a//b', 'arn:aws:s3:::payroll/a'])
      expect(await copy(source)).toEqual(forbidden('x-amz-copy-source'))
    const listed = await copying({
      host: BUCKET_HOST,
      paths: ['/'],
      settings: { request_headers: ['x-amz-copy-source'] },
    })
    expect(await listed('payroll/my+file')).toEqual(sent)
  })

  it('is in the account of Azure that the host names', async () => {
    const copy = await copying({ host: AZURE_HOST, paths: ['/'] })
    for (const source of ['http://other.blob.core.windows.net/payroll/a', '/other/payroll/a'])
      expect(await copy(source, 'x-ms-copy-source')).toEqual(forbidden('x-ms-copy-source'))
  })

  it('is nothing that only the capability keeps from', async () => {
    const copy = await copying({ paths: ['/'], capability: { path_prefixes: ['/photos'] } })
    expect(await copy('photos/a.jpg')).toEqual(sent)
    expect(await copy('payroll/secret.csv')).toEqual(denied())
    expect(await copy('photos/a.jpg', 'x-copy-from')).toEqual(forbidden('x-copy-from'))
  })

  it('is read with a GET, which the scope has to cover', async () => {
    const copy = await copying({ methods: ['PUT'] })
    expect(await copy('photos/a.jpg')).toEqual(denied())
  })

  it('is asked of the rules', async () => {
    const copy = await copying({ paths: ['/'], settings: { rules: ['deny * */payroll/**', 'allow * *'] } })
    expect(await copy('photos/a.jpg')).toEqual(sent)
    for (const source of ['payroll/secret.csv', 'PAYROLL/secret.csv'])
      expect(await copy(source)).toEqual(denied('credential'))
    expect(await copy('photos/a.jpg', 'x-oss-copy-source')).toEqual(forbidden('x-oss-copy-source'))
    const asking = await copying({ paths: ['/'], settings: { rules: ['ask GET */payroll/**', 'allow * *'] } })
    expect(await asking('photos/a.jpg')).toEqual(sent)
    const waiting = asking('payroll/secret.csv')
    const permit = await pending()
    expect(permit.summary.text).toContain('Rule: ask GET */payroll/**')
    expect(permit.summary.headers).toMatchObject({ 'x-amz-copy-source': 'payroll/secret.csv' })
    await gw.rest('POST', `/v1/actions/permits/${permit.permit_id}/approve`, {})
    expect(await waiting).toEqual(sent)
  })

  it('is whatever the key can read where the operator lists the header', async () => {
    const settings = { request_headers: ['x-amz-copy-source', 'x-copy-from'] }
    const copy = await copying({ settings })
    expect(await copy('payroll/secret.csv')).toEqual(sent)
    expect(await copy('payroll/secret.csv', 'x-copy-from')).toEqual(sent)
    expect(await copy('payroll/secret.csv', 'x-oss-copy-source')).toEqual(forbidden('x-oss-copy-source'))
  })

  async function pending() {
    for (;;) {
      const { body } = await gw.rest('GET', '/v1/actions/permits?state=pending_approval')
      if (body.permits.length > 0) return body.permits[0]
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
})
