type Ratios = Record<string, number>;
export function worse(committed: Ratios, measured: Ratios): string[];
export function check(
  committed: Ratios,
  measure: () => Promise<Ratios>,
): Promise<{ measured: Ratios; failed: string[] }>;
