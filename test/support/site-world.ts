// Things for pages of the site to show: made as visitors make them, through the doors.
import type { DefaultGateway } from './default-gateway.ts'

/** Buys the sample article with test money. @returns id of its receipt */
export async function buyArticle(gateway: Pick<DefaultGateway, 'url' | 'wallet'>): Promise<string> {
  const sign = await gateway.wallet()
  const ask = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/tools/web.fetch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ url: 'https://sandbox.agent-gateway.test/article', mode: 'text' }),
    })
  const challenge = await ask({})
  const required: unknown = JSON.parse(atob(challenge.headers.get('payment-required') ?? ''))
  const payment = btoa(JSON.stringify(await sign(required)))
  const answer = (await (await ask({ 'payment-signature': payment })).json()) as {
    receipt: { receipt_id: string }
  }
  return answer.receipt.receipt_id
}
