/** What a price of the sandbox says to whoever reads it: how much, on which network, how it is paid, and what to do without a wallet. */
export const WHAT_A_PERSON_NEEDS: readonly RegExp[] = [
  /this call costs 0\.001 USD/,
  /on Base \(eip155:8453, test money\)/,
  /Nothing was done and nothing was charged/,
  /To pay, [^.]*sign[^.]*`accepts`/,
  /x402 (?:\(v2\) )?wallet/,
  /Without a wallet: .*test payer/,
]
