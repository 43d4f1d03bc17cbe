// npx node examples/rest-fetch.ts
// The agent calls an API with a capability. CAPABILITY comes from store-credential.ts.
// #region call
const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'
const answer = await fetch(`${gateway}/v1/egress/fetch`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${process.env.CAPABILITY}` },
  body: JSON.stringify({ method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' }),
})
if (!answer.ok) throw new Error(await answer.text()) // says what to do
const { upstream, credits, receipt } = await answer.json()
console.log(upstream.status, upstream.body) // what the API said
console.log(credits) // { charged: 1, balance: null }: agents do not see it unless allowed
console.log(receipt.url) // anybody can verify it against the published keys
// #endregion
