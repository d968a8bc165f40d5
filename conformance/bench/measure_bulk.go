package main

var bulkMeasures = []measure{
	{
		name: "blob", title: "One row of 1 MiB of text in a reply",
		columns: []string{"us per call"}, base: "raw-buffers",
		takes: called, server: true, run: runBlob, derive: &derived{"GB/s", func(v []float64) float64 { return blobSize / v[0] / 1e3 }},
		// raw-buffers reads into memory that it has, which the lent ones do too, and grpc makes a string for each call.
		goals: concat(atMost(1.8, 1.1, "raw-buffers"), faster(3, "grpc"), []goal{
			{who: "kith-json-lent", than: "raw-buffers", atMost: 1.8}, {who: "kith-cbor-lent", than: "raw-buffers", atMost: 1.1},
			{who: "kith-json-lent", than: "grpc", faster: 3}, {who: "kith-cbor-lent", than: "grpc", faster: 3},
		}),
	},
	{
		name: "list", title: "A listing of 10,000 rows of three texts, typed at both ends (raw Go: its bytes alone)",
		columns: []string{"us per call"}, base: "raw",
		takes: called, server: true, run: runList,
		goals: concat(atMost(0.5, 0.5, "net-rpc"), atMost(0.25, 0.25, "grpc")),
	},
}

func runBlob(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	mean, _, err := timed(s.time, func() error { return checkedBlob(c) })
	return []float64{mean}, err
}

func runList(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	mean, _, err := timed(s.time, func() error { return checkedList(c, listRows) })
	return []float64{mean}, err
}
