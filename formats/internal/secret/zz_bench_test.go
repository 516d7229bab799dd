package secret

import (
	"encoding/binary"
	"os"
	"syscall"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

func cpu() int64 { var r syscall.Rusage; syscall.Getrusage(0,&r); return r.Utime.Nano()+r.Stime.Nano() }
func BenchmarkReal(b *testing.B) {
	raw, _ := os.ReadFile("/tmp/rawjson-helper/values.bin")
	var list []*store.Batch
	bt := store.NewBatch(0,2)
	n:=int64(len(raw))
	for len(raw) > 0 {
		l := int(binary.LittleEndian.Uint32(raw))
		bt.Row(int64(len(raw))); bt.AddText("bubbleId:x"); bt.AddBytes(store.Text, raw[4:4+l])
		raw = raw[4+l:]
		if bt.Full() { list=append(list,bt); bt = store.NewBatch(0,2) }
	}
	list=append(list,bt)
	raw = nil
	for _, m := range []formats.SecretMode{0,1,2} {
	b.Run([]string{"keep","withhold","omit"}[m], func(b *testing.B){
	c := cpu()
	for b.Loop() {
		f := NewFilter(&store.Schema{Sets: []store.Set{{File: "f", Name: "cursorDiskKV", Columns: []string{"key", "value"}, RowIDs: true}}}, formats.View{Secrets: m})
		for _, x := range list { if f.Apply(x) != x { b.Fatal("changed") } }
	}
	b.ReportMetric(float64(n)*float64(b.N)*1e3/float64(cpu()-c),"cpuMB/s")
	})
	}
}
