export interface Order {
  id: string;
  total: number;
}

export class ApiClient {
  constructor(private readonly base: string) {}

  async get(path: string): Promise<Response> {
    return this.request("GET", path);
  }

  async post(path: string, body: unknown): Promise<Response> {
    return this.request("POST", path, body);
  }

  private async request(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(this.base + path, { method, body: JSON.stringify(body) });
  }

  static fromEnvironment(): ApiClient {
    return new ApiClient("/api");
  }
}

export class ApiError extends Error {
  get isRetryable(): boolean {
    return false;
  }
}
