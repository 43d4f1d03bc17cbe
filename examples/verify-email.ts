// npx node examples/verify-email.ts
// Gets a free key and decides about two email addresses.
const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

async function post(path: string, body: unknown, key?: string) {
  const answer = await fetch(gateway + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

const { key } = await post('/v1/keys/free', {})
const { results } = await post('/v1/verify/batch', { emails: ['ada@example.com', 'not an address'] }, key)
for (const result of results) console.log(result.email, result.decision, result.reasons)
