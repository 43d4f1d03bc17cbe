/**
 * What each of a group left on its account, where the database says only what all of them left: those that come later had not paid yet.
 * @param paid each with its account's balance after the whole group
 * @returns by number
 */
export function afterEach(
  paid: readonly { readonly n: number; readonly balance: number }[],
  billOf: (n: number) => { readonly account: string; readonly cost: number },
): ReadonlyMap<number, number> {
  const balances = new Map<number, number>()
  const paidLater = new Map<string, number>()
  for (const { n, balance } of paid.toSorted((a, b) => b.n - a.n)) {
    const { account, cost } = billOf(n)
    const later = paidLater.get(account) ?? 0
    balances.set(n, balance + later)
    paidLater.set(account, later + cost)
  }
  return balances
}
